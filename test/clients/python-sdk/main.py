"""The official Python SDK 1.x, 2025-11-25: its experimental task API."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult

URL, STEP = sys.argv[1:]


def say(**fact):
    print(json.dumps(fact), flush=True)


async def ask(_context, params):
    say(question=params.message)
    await asyncio.sleep(3)
    return ElicitResult(action="accept", content={name: 4 for name in params.requestedSchema["properties"]})


async def call(tasks, name, args=None):
    task_id = (await tasks.call_tool_as_task(name, args)).task.taskId
    say(task=task_id)
    return task_id


async def run(tasks):
    task_id = await call(tasks, "count", {"to": 4})
    async for task in tasks.poll_task(task_id):
        say(progress=task.statusMessage)
    say(result=(await tasks.get_task_result(task_id, CallToolResult)).content[0].text)


async def question(tasks):
    task_id = await call(tasks, "split")
    say(result=(await tasks.get_task_result(task_id, CallToolResult)).content[0].text)


async def cancel(tasks):
    task_id = await call(tasks, "wait")
    await tasks.cancel_task(task_id)
    say(status=(await tasks.get_task(task_id)).status)


async def main():
    async with streamable_http_client(URL) as (read, write, _):
        async with ClientSession(read, write, elicitation_callback=ask) as session:
            await session.initialize()
            await {"run": run, "question": question, "cancel": cancel}[STEP](session.experimental)


asyncio.run(main())
