"""Plays runs of journal-vectors.json with mcp_task.py: each line of stdin is one, and gets a line of its own.

A run has a process of its own, a copy of the first one, which has loaded boto3 and its descriptions of services.
"""

import copy
import json
import os
import sys
import traceback
from datetime import datetime, timedelta, timezone

import boto3
import mcp_task

ToolError = type("ToolError", (Exception,), {})
done = []


def meant(value):
    """A value that the vectors only describe."""
    if isinstance(value, list):
        return [meant(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if "times" in value:
        return value["text"] * value["times"]
    if "code" in value:
        return print
    if "levels" in value:
        nested = []
        for _ in range(value["levels"] - 1):
            nested = [nested]
        return nested
    return value


class Context:
    """Of a function that has the first of these times left at first, and then the last, in ms."""

    def __init__(self, left):
        self.left = list(left)

    def get_remaining_time_in_millis(self):
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


def play(run):
    event, outcomes = copy.deepcopy(run["event"]), []

    def steps(_arguments, event):
        for one in run["steps"]:
            outcomes.append(played(event, run, one))
        mcp_task.ask(event, "end", "End?", {})

    ended = mcp_task.tool(steps)(event, Context(run["left"]) if "left" in run else None)
    state = (json.loads(ended["text"]) if "text" in ended else ended)["requestState"]
    return {"outcomes": outcomes, "requestState": state, "ends": ended.get("waits")}


def waited(event, one):
    """What a wait of the vectors returns."""
    time = timedelta(seconds=one.get("seconds", 0))
    if "sleep" in one:
        moment = datetime.fromtimestamp(one["until"] / 1000, timezone.utc) if "until" in one else time
        return mcp_task.sleep(event, meant(one["sleep"]), moment)
    if "link" in one:
        link = mcp_task.link(event, one["link"], one["message"], one["fields"], time)
        return link.answer() if one.get("wait") else link.url
    if "webhook" in one:
        hook = mcp_task.webhook(event, one["webhook"], time, one.get("schema"))
        return hook.received() if one.get("wait") else hook.url
    if "map" in one:

        def page(item):
            done.append(item)
            return "page " + item

        options = {"at_most_once": True, "interrupted": lambda item: "lost " + item} if "atMostOnce" in one else {}
        return mcp_task.map_steps(event, meant(one["map"]), one["items"], page, one.get("concurrency", 1), **options)
    finds = list(one["finds"])

    def check():
        done.append(one["until"])
        return finds.pop(0) if len(finds) > 1 else finds[0]

    return mcp_task.until(event, one["until"], check, timedelta(seconds=one.get("every", 1)), time)


def played(event, run, one):
    """What a step or wait returns, or why it is refused."""
    try:
        return {"value": step(event, run, one) if "name" in one else waited(event, one)}
    except TypeError as error:
        return {"usage": str(error)}
    except ValueError as error:
        return {"refused": str(error)}
    except Exception as error:
        return {"error": type(error).__name__.replace("Exception", "Error")}


def step(event, run, one):
    name, throws = meant(one["name"]), list(one.get("throws", []))

    def work():
        done.append(name)
        if "during" in one:
            during = one["during"]
            play({**during, "event": {**run["event"], "task": {**run["event"]["task"], **during["task"]}}})
        if one.get("dies"):
            print(json.dumps({"done": done, "outcomes": ["dies"], "requestState": None}))
            sys.stdout.flush()
            os._exit(0)
        if throws:
            raise {"Error": Exception, "ToolError": ToolError}[throws.pop(0)]("no")
        return meant(one.get("returns"))

    once = one.get("atMostOnce", False)
    return mcp_task.step(event, name, work, one.get("attempts", 1), 0.001, once)


for service in ("dynamodb", "s3"):
    boto3.client(service)
for line in sys.stdin:
    if os.fork() > 0:
        os.wait()
        continue
    try:
        # Half of a surrogate pair is in the names of the vectors.
        answer = json.dumps({**play(json.loads(line)), "done": done})
    except BaseException:
        traceback.print_exc()
        answer = "null"
    print(answer, flush=True)
    os._exit(0)
