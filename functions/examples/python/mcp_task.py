"""Tools of mcp-task-server in Python: progress, steps, files, questions and waits.

Copy this file, mcp_files.py, mcp_waits.py, mcp_names.py and mcp_journal.py.

It needs boto3, which Lambda's Python runtimes have.
"""

import concurrent.futures
import contextvars
import json
import math
import random
import re
import threading
import time

from mcp_files import file, preview, with_preview
from mcp_journal import ENTRIES, NAME, StepInterrupted, StepLost, client, journal_of, key_of, write
from mcp_names import check_open, end_round, in_step, keep_name, question_name, stops
from mcp_waits import MORE, RoundEnd, begin, link, sleep, spare_of, until, webhook

__all__ = [
    "Question", "RoundEnd", "StepInterrupted", "StepLost",
    "ask", "caller", "file", "link", "map_steps", "preview",
    "progress", "sleep", "step", "tool", "until", "webhook",
]  # fmt: skip

LONGEST_WAIT = 60  # Seconds between two tries of a step.
FINAL = ("ToolError", "TaskEnded")  # Errors that another try does not change.
REPORT = ("round", "updatedAt", "statusMessage", "progress", "progressTotal")


def caller(event):
    """Who called the tool, as far as the server knows: "subject", "client", "claims". Empty for an anonymous caller."""
    return event.get("caller") or {}


def ask(event, name, message, fields):
    """The content of the client's answer, or None if it declines. Raises Question while there is no answer.

    `fields`: JSON schemas of flat fields, by name. End the run with what Question holds: see `tool`. A run that asks under
    the same name again asks another question.
    """
    journal = journal_of(event)
    check_open(event)
    name = question_name(event, name)
    answer = journal.answers.get(name)
    if answer is None:
        form = {"type": "object", "properties": fields, "required": list(fields)}
        params = {"message": message, "requestedSchema": form}
        end_round(event, Question({name: {"method": "elicitation/create", "params": params}}))
    # An accepted form without fields may lack its content.
    return answer.get("content", {}) if answer.get("action") == "accept" else None


class Question(RoundEnd):
    """Ends a run: the function runs again with the answers."""

    def __init__(self, requests):
        super().__init__()
        self.requests = requests


def tool(run):
    """Makes a handler of `run(arguments, event)`: returns what it returns, or what its round ends with.

    Once the round has ended, nothing counts that `run` returns: it may have caught RoundEnd. Another error fails the run.
    """

    def handler(event, context):
        event["_spare"] = spare_of(event, context)
        journal = journal_of(event)
        try:
            result = run(event["arguments"], event)
        except RoundEnd as end:
            journal.ended = journal.ended or end
        except Exception as error:
            # A run may have wrapped what ends it to go on in the next round. There it comes again.
            if not (journal.ended and journal.ended.waits == MORE and _is_caused_by(error, journal.ended)):
                raise
        if not journal.ended:
            return result
        if isinstance(journal.ended, Question):
            return {"inputRequests": journal.ended.requests, "requestState": journal.carried()}
        text = json.dumps({"requestState": journal.carried()})
        return {"mcpTask": 1, "text": text, "waits": journal.ended.waits}

    return handler


def step(event, name, work, attempts=1, backoff=1.0, at_most_once=False):
    """Calls `work` once for all rounds and attempts of a task, and returns its JSON result from then on.

    `attempts`: how often `work` is tried if it raises, in the same run. `backoff`: the longest wait before the second
    try, in seconds, twice as long before each further one. `at_most_once`: an entry is stored before `work`, and a later
    run that finds no result raises StepInterrupted, as does each run after it.

    If little of the time of the function is left, a run that has done a step does not begin another: it ends by RoundEnd,
    and the next one goes on.

    Raises ValueError if the step has no room, before the work, or if its result does not fit, after it: then in later
    runs, too, without the work. Raises StepLost if its result is gone.
    """
    if at_most_once and attempts > 1:
        raise TypeError("Step '%s': choose between attempts and at_most_once" % name)
    check_open(event)

    def once():
        with in_step(event, "step#" + name):
            return work()

    def timed():
        began = time.monotonic()
        result = _tried(once, attempts, backoff)
        event["_longest"] = max(event.get("_longest", 0), time.monotonic() - began)
        return result

    with keep_name(event, "step", name, "Step '%s'" % name):
        return journal_of(event).once("step", name, timed, at_most_once, lambda: begin(event))


def map_steps(event, name, items, work, concurrency=10, interrupted=None, **options):
    """Does a step for each item of a list, some at the same time in threads. The results are in the order of the items.

    The steps are named `<name> 1/200` to `<name> 200/200`, so the name of the map has 1 to 52 characters. Give it the same
    list in each run: a list of another length raises TypeError. If the work on an item raises, no further item begins,
    and the error is raised once those under way have ended. `options`: of `step`. `interrupted`: makes the result of an
    item that a run before this one has begun, and not finished, with `at_most_once`; else that raises StepInterrupted.
    """
    label, items, longest = "Map '%s'" % str(name)[:NAME], list(items), NAME - len(" %d/%d" % (ENTRIES, ENTRIES))
    if not isinstance(name, str) or not 1 <= len(name) <= longest:
        raise ValueError("%s: a name has 1 to %d characters" % (label, longest))
    if len(items) > ENTRIES:
        raise ValueError("%s has %d items: a task may have %d steps" % (label, len(items), ENTRIES))
    if not concurrency >= 1:
        raise TypeError("%s: concurrency is a number from 1 on, and not %s" % (label, concurrency))
    for known in journal_of(event).names():
        found = re.fullmatch(re.escape(name) + r" [0-9]+/([0-9]+)", known)
        if found and int(found[1]) != len(items):
            message = "%s has %d items, and had %s in an earlier run: give it the same list in each"
            raise TypeError(message % (label, len(items), found[1]))
    rest, results, errors = iter(enumerate(items)), [None] * len(items), []
    lock = threading.Lock()

    def done(index, item):
        try:
            return step(event, "%s %d/%d" % (name, index + 1, len(items)), lambda: work(item), **options)
        except StepInterrupted:
            if interrupted is None:
                raise
            return interrupted(item)

    def lane():
        while not errors:
            with lock:
                index, item = next(rest, (None, None))
            if index is None:
                return
            try:
                results[index] = done(index, item)
            except BaseException as error:
                errors.append(error)

    with concurrent.futures.ThreadPoolExecutor(max(1, min(concurrency, len(items)))) as lanes:
        for _ in range(min(concurrency, len(items))):
            lanes.submit(contextvars.copy_context().run, lane)
    if errors:
        raise next((error for error in errors if not isinstance(error, RoundEnd)), errors[0])
    return results


def _is_caused_by(error, cause):
    while error is not None and error is not cause:
        error = error.__cause__ or error.__context__
    return error is cause


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
    """Shows how far the task is, at most once a second. False when the task or the round is over: stop.

    A run that repeats what an earlier one has reported, with a smaller `done` of the same `total`, shows nothing.
    """
    task = event.get("task")
    if stops(event):
        return False
    if task is None or time.monotonic() - event.get("_reported", -math.inf) < 1:
        return True
    try:
        amount = journal_of(event).amount_of(done, total)
        if amount is None:
            return True
        event["_reported"] = time.monotonic()
        # A message alone does not change the amount.
        before = event.get("_amount", (None, None))
        event["_amount"] = tuple(before[i] if one is None else one for i, one in enumerate(amount))
        return _report(task, with_preview(event, message), *event["_amount"])
    except Exception as error:  # The work goes on without this report.
        event["_reported"] = time.monotonic()
        print(json.dumps({"event": "progress_failed", "error": type(error).__name__}))
        return True


def _report(task, message, done, total):
    record = client("dynamodb").get_item(
        TableName=task["table"],
        Key=key_of(task["owner"], task["taskId"]),
        ConsistentRead=True,
        ProjectionExpression="#status, #round",
        ExpressionAttributeNames={"#status": "status", "#round": "round"},
    ).get("Item")
    if record != {"status": {"S": "working"}, "round": {"N": str(task["round"])}}:
        return False
    report = {
        "round": {"N": str(task["round"])},
        "updatedAt": {"N": str(int(time.time() * 1000))},
        "statusMessage": {"S": message},
    }
    if done is not None:
        report["progress"] = {"N": str(done)}
    if total is not None:
        report["progressTotal"] = {"N": str(total)}
    return write(task, "", REPORT, report, "#round <= :round")
