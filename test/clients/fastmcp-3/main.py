"""FastMCP 3, 2025-11-25."""

import asyncio
import json
import sys

from fastmcp import Client

URL, STEP = sys.argv[1:]


def say(**fact):
    print(json.dumps(fact), flush=True)


async def ask(message, _type, params, _context):
    say(question=message)
    await asyncio.sleep(3)
    return {name: 4 for name in params.requestedSchema["properties"]}


async def run(client):
    task = await client.call_tool("count", {"to": 4}, task=True)
    say(task=task.task_id)
    while (status := await client.get_task_status(task.task_id)).status == "working":
        say(progress=status.statusMessage)
        await asyncio.sleep(0.5)
    say(result=(await task.result()).content[0].text)


async def question(client):
    task = await client.call_tool("split", task=True)
    say(result=(await task.result()).content[0].text)


async def cancel(client):
    task = await client.call_tool("wait", task=True)
    say(task=task.task_id)
    await task.cancel()
    say(status=(await client.get_task_status(task.task_id)).status)


async def main():
    async with Client(URL, elicitation_handler=ask) as client:
        await {"run": run, "question": question, "cancel": cancel}[STEP](client)


asyncio.run(main())
