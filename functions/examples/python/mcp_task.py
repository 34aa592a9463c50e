"""Tools of mcp-task-server in Python: progress, steps and questions. Copy this file and mcp_journal.py beside your tool.

It needs boto3, which Lambda's Python runtimes have.
"""

import json
import random
import time

from mcp_journal import StepInterrupted, StepLost, client, journal_of, write

__all__ = ["Question", "StepInterrupted", "StepLost", "ask", "progress", "step", "tool"]

LONGEST_WAIT = 60  # Seconds between two tries of a step.
FINAL = ("ToolError", "TaskEnded", "Question")  # Errors that another try does not change.
REPORT = ("round", "updatedAt", "statusMessage", "progress", "progressTotal")
_last_report = 0.0


def ask(event, name, message, fields):
    """The content of the client's answer, or None if it declines. Raises Question while there is no answer.

    `fields`: JSON schemas of flat fields, by name. End the run with what Question holds: see `tool`.
    """
    answer = event["inputResponses"].get(name)
    if answer is None:
        form = {"type": "object", "properties": fields, "required": list(fields)}
        raise Question({name: {"method": "elicitation/create", "params": {"message": message, "requestedSchema": form}}})
    return answer.get("content") if answer.get("action") == "accept" else None


class Question(Exception):
    """Ends a run: the function runs again with the answers."""

    def __init__(self, requests):
        super().__init__("The tool asks its client")
        self.requests = requests


def tool(run):
    """Makes a handler of `run(arguments, event)`: returns what it returns, or its questions."""

    def handler(event, _context):
        try:
            return run(event["arguments"], event)
        except Question as question:
            return {"inputRequests": question.requests, "requestState": journal_of(event).carried()}

    return handler


def step(event, name, work, attempts=1, backoff=1.0, at_most_once=False):
    """Calls `work` once for all rounds and attempts of a task, and returns its JSON result from then on.

    `attempts`: how often `work` is tried if it raises, in the same run. `backoff`: the longest wait before the second
    try, in seconds, twice as long before each further one. `at_most_once`: an entry is stored before `work`, and a later
    run that finds no result raises StepInterrupted, as does each run after it.

    Raises ValueError if the step has no room, before the work, or if its result does not fit, after it: then in later
    runs, too, without the work. Raises StepLost if its result is gone.
    """
    if at_most_once and attempts > 1:
        raise TypeError("Step '%s': choose between attempts and at_most_once" % name)
    return journal_of(event).once(name, lambda: _tried(work, attempts, backoff), at_most_once)


def _tried(work, attempts, backoff):
    for attempt in range(1, attempts):
        try:
            return work()
        except Exception as error:
            if type(error).__name__ in FINAL:
                raise
        # Runs that failed together do not try together.
        time.sleep(min(backoff * 2 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.5, 1))
    return work()


def progress(event, message, done=None, total=None):
    """Shows how far the task is, at most once a second. False when the task is over: stop.

    A run that repeats what an earlier one has reported, with a smaller `done` of the same `total`, shows nothing.
    """
    global _last_report
    task = event.get("task")
    if task is None or time.monotonic() - _last_report < 1:
        return True
    try:
        amount = journal_of(event).amount_of(done, total)
        if amount is None:
            return True
        _last_report = time.monotonic()
        return _report(task, message, *amount)
    except Exception as error:  # The work goes on without this report.
        _last_report = time.monotonic()
        print(json.dumps({"event": "progress_failed", "error": type(error).__name__}))
        return True


def _report(task, message, done, total):
    record = client("dynamodb").get_item(
        TableName=task["table"],
        Key={"owner": {"S": task["owner"]}, "taskId": {"S": task["taskId"]}},
        ConsistentRead=True,
        ProjectionExpression="#status, #round",
        ExpressionAttributeNames={"#status": "status", "#round": "round"},
    ).get("Item")
    if record != {"status": {"S": "working"}, "round": {"N": str(task["round"])}}:
        return False
    report = {
        "round": {"N": str(task["round"])},
        "updatedAt": {"N": str(int(time.time() * 1000))},
        "statusMessage": {"S": message[:500]},
    }
    if done is not None:
        report["progress"] = {"N": str(done)}
    if total is not None:
        report["progressTotal"] = {"N": str(total)}
    return write(task, "", REPORT, report, "#round <= :round")
