"""Strands on the Python SDK 2.x, 2026-07-28. Its own loop shows no progress, so `run` polls by hand."""

import json
import sys
import time

from mcp.types import ElicitResult
from strands.tools.mcp import MCPClient

URL, STEP = sys.argv[1:]


def say(**fact):
    print(json.dumps(fact), flush=True)


async def ask(_context, params):
    say(question=params.message)
    return ElicitResult(action="accept", content={name: 4 for name in params.requested_schema["properties"]})


def submit(client, name, args=None):
    task = client.submit_tool_sync(name, args or {})
    say(task=task.task_id)
    return task.task_id


def run(client):
    task_id = submit(client, "count", {"to": 4})
    while (task := client.get_task_sync(task_id)).status == "working":
        say(progress=task.status_message)
        time.sleep(0.5)
    say(result=task.result.content[0].text)


def question(client):
    say(result=client.call_tool_sync("1", "split", {})["content"][0]["text"])


def cancel(client):
    task_id = submit(client, "wait")
    client.cancel_task_sync(task_id)
    say(status=client.get_task_sync(task_id).status)


with MCPClient(url=URL, elicitation_callback=ask, tasks_config={}) as client:
    {"run": run, "question": question, "cancel": cancel}[STEP](client)
