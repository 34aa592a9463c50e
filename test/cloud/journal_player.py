"""Plays one run of journal-vectors.json, which it reads from stdin, with mcp_task.py."""

import copy
import json
import os
import sys

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


def play(run):
    event = copy.deepcopy(run["event"])
    outcomes = [step(event, run, one) for one in run["steps"]]
    state = mcp_task.tool(lambda _arguments, event: mcp_task.ask(event, "end", "End?", {}))(event, None)["requestState"]
    return {"outcomes": outcomes, "requestState": state}


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

    try:
        once = one.get("atMostOnce", False)
        return {"value": mcp_task.step(event, name, work, one.get("attempts", 1), 0.001, once)}
    except TypeError as error:
        return {"usage": str(error)}
    except ValueError as error:
        return {"refused": str(error)}
    except Exception as error:
        return {"error": type(error).__name__.replace("Exception", "Error")}


# Half of a surrogate pair is in the names of the vectors.
print(json.dumps({**play(json.load(sys.stdin)), "done": done}))
