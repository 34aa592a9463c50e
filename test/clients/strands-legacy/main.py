"""Strands on the Python SDK 1.x, 2025-11-25. It hands out neither the task nor its progress."""

import asyncio
import json
import sys

from mcp.types import ElicitResult
from strands.tools.mcp import MCPClient

URL, STEP = sys.argv[1:]


def say(**fact):
    print(json.dumps(fact), flush=True)


async def ask(_context, params):
    say(question=params.message)
    await asyncio.sleep(3)
    return ElicitResult(action="accept", content={name: 4 for name in params.requestedSchema["properties"]})


with MCPClient(url=URL, elicitation_callback=ask, tasks_config={}) as client:
    client.list_tools_sync()
    name, args = {"run": ("count", {"to": 4}), "question": ("split", {})}[STEP]
    say(result=client.call_tool_sync("1", name, args)["content"][0]["text"])
