"""FastMCP 4 with fastmcp_tasks, 2026-07-28."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp_tasks import call_tool_task

URL, STEP = sys.argv[1:]


def say(**fact):
    print(json.dumps(fact), flush=True)


async def ask(message, _type, params, _context):
    say(question=message)
    return {name: 4 for name in params.requested_schema["properties"]}


async def run(client):
    task = await call_tool_task(client, "count", {"to": 4})
    say(task=task.task_id)
    while (status := await task.status()).status == "working":
        say(progress=status.status_message)
        await asyncio.sleep(0.5)
    say(result=(await task.result()).content[0].text)


async def question(client):
    task = await call_tool_task(client, "split")
    say(result=(await task.result()).content[0].text)


async def cancel(client):
    task = await call_tool_task(client, "wait")
    say(task=task.task_id)
    await task.cancel()
    say(status=(await task.wait(timeout=20)).status)


async def main():
    async with Client(URL, elicitation_handler=ask) as client:
        await {"run": run, "question": question, "cancel": cancel}[STEP](client)


asyncio.run(main())
