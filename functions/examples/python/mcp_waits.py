"""What a tool waits for, for days if need be: time, a person, another system. For mcp_task.py."""

import base64
import hashlib
import hmac
import json
import math
import re
import time
from datetime import datetime, timedelta, timezone

from mcp_journal import journal_of, write
from mcp_names import check_open, end_round, in_step, keep_name, step_of_thread

INSIDE = 10  # Seconds: a run does not end for a shorter sleep.
MORE = {"more": {"kind": "more"}}  # What a round waits for that ends as its time is nearly over.
MARGIN = 60  # Seconds of a run that are kept free for its end, at most.
PLACE = "mcp-task-server: the place of a task among the links and webhooks of its server"  # Longer than any name.


class RoundEnd(BaseException):
    """Ends a run: the function runs again when all it waits for has come. Let it pass; no `except Exception` catches it."""

    def __init__(self, waits=None):
        super().__init__("The round ends here, until what the tool waits for has come: let this error pass")
        self.waits = waits


def sleep(event, name, duration):
    """Sleeps for a timedelta, or until a datetime: the run ends, and the next one begins after that time.

    The moment is stored when the sleep begins. The last 10 seconds it sleeps in the run. Each wait of a run needs its own
    name. Raises ValueError for a time that is negative, or after the deadline of the task.
    """
    label = "Sleep '%s'" % name
    _reach(event, name, _stored(event, "time", label, name, lambda: {"until": _end(event, label, duration)})["until"])


def until(event, name, check, every, within):
    """Calls `check` again and again, and returns the first value that is not None or False: that is stored as a step.

    `every`, `within`: timedeltas, at least a second between two checks. Returns {"timedOut": True} if there is nothing in time.
    """
    label = "Wait '%s'" % name
    if every < timedelta(seconds=1):
        raise ValueError("%s: every is at least a second" % label)
    end = _stored(event, "time", label, name, lambda: {"until": _end(event, label, within)})["until"]

    def check_once():
        is_last = _now() >= end
        with in_step(event, "step#" + name):
            value = check()
        if value is not None and value is not False:
            return value
        if is_last:
            return {"timedOut": True}
        raise _NotYet

    while True:
        try:
            with keep_name(event, "step", name, label):
                return journal_of(event).once("step", name, check_once, False, lambda: begin(event))
        except _NotYet:
            # A poll in a step does not keep the round from its end.
            _reach(event, name, min(_now() + _ms(every), end), not journal_of(event).ended)


def link(event, name, message, fields, within):
    """A link to a page of the server with a question: `url`, `until` (ms since the epoch) and `answer()`.

    `fields`: JSON schemas of flat fields, by name. `within`: a timedelta. Give the URL away in a step. `answer()` returns
    {"action", "content", "by", "at"}, or {"timedOut": True}; the run ends there if there is no answer yet.
    """
    form = {"type": "object", "properties": fields, "required": list(fields)}
    question = {"method": "elicitation/create", "params": {"message": message, "requestedSchema": form}}
    return Link(event, "link", name, within, {"question": question})


def webhook(event, name, within, schema=None):
    """A URL to which another system sends JSON by POST: `url`, `until` and `received()`, which returns {"body", "at"}.

    `schema`: JSON Schema of the body; the server refuses any other. The rest is as of `link`.
    """
    return Webhook(event, "webhook", name, within, {} if schema is None else {"schema": schema})


class _Signalled:
    def __init__(self, event, kind, name, within, more):
        label = "%s '%s'" % (kind.capitalize(), name)
        if not _can_wait(event):
            raise ValueError("%s needs a task: call the tool as a task" % label)
        place = event["task"].get("signals")
        if place is None:
            raise ValueError("%s needs a URL of the server, which this task does not have: call the tool again" % label)
        part = _encoded(_mac(place["key"], PLACE)[:16])

        def make():
            made = {"until": _end(event, label, within), **more}
            _write_place(event["task"], part)
            return made

        wait = _stored(event, kind, label, name, make)
        self._event, self._kind, self._name, self.until = event, kind, name, wait["until"]
        self.url = "%s/%s/%s/%s" % (place["url"], part, _part(name), _encoded(_mac(place["key"], name)))

    def _wanted(self, member):
        check_open(self._event)
        signal = (self._event.get("signals") or {}).get(self._name)
        if signal is not None and (member in signal or "timedOut" in signal):
            return signal
        # Only the server says that the time is over: a signal may be on its way.
        end_round(self._event, RoundEnd({self._name: {"kind": self._kind, "until": self.until}}))


class Link(_Signalled):
    def answer(self):
        return self._wanted("action")


class Webhook(_Signalled):
    def received(self):
        return self._wanted("body")


def begin(event):
    """Ends the round before work for which too little time is left. A run that has done nothing yet has to begin it."""
    spare = event.get("_spare")
    if spare and step_of_thread() is None and _can_wait(event) and journal_of(event).has_new() and spare() < event.get("_longest", 0):
        end_round(event, RoundEnd(MORE))


def spare_of(event, context):
    """Makes the function that says how long the run may still work, in seconds. Negative: too little to begin something."""
    task = event.get("task") or {}
    deadline = task.get("deadline", 0)

    def left():
        seconds = context.get_remaining_time_in_millis() / 1000 if context else math.inf
        return min(seconds, (deadline - _now()) / 1000) if deadline < task.get("taskDeadline", deadline) else seconds

    total = left()
    margin = min(MARGIN, max(total / 10, min(5, total / 4)))
    return lambda: left() - margin


class _NotYet(Exception):
    pass


def _can_wait(event):
    return (event.get("task") or {}).get("envelope") == 1


def _stored(event, kind, label, name, make):
    """Stores a wait once for all runs of the task, and returns what is stored. A call without a task stores none."""
    check_open(event)
    with keep_name(event, "wait", name, label):
        wait = make() if not _can_wait(event) else journal_of(event).once("wait", name, lambda: {"kind": kind, **make()})
        if _can_wait(event) and wait.get("kind") != kind:
            raise TypeError("%s was another kind of wait in an earlier run: give each wait its own name" % label)
        return wait


def _end(event, label, moment):
    """When a time that begins now ends, in ms since the epoch."""
    if isinstance(moment, datetime):
        end = math.ceil(moment.timestamp() * 1000)
    elif isinstance(moment, timedelta) and moment >= timedelta(0):
        end = _now() + _ms(moment)
    else:
        raise ValueError("%s takes a timedelta from 0 on, or a sleep a datetime, and not %r" % (label, moment))
    task = event.get("task") or {}
    if not _can_wait(event):
        if end - _now() > INSIDE * 1000:
            raise ValueError("%s: without a task it can wait for %d seconds: call the tool as a task" % (label, INSIDE))
    elif end > task.get("taskDeadline", task["deadline"]):
        deadline = datetime.fromtimestamp(task.get("taskDeadline", task["deadline"]) / 1000, timezone.utc)
        message = "%s ends after the deadline of its task, %s: give the tool a longer timeout"
        raise ValueError(message % (label, deadline.isoformat()))
    return end


def _reach(event, name, end, may_stay=True):
    """Waits until a moment: in the run if it comes soon and the run may wait for it, in other rounds if not."""
    while (rest := (end - _now()) / 1000) > 0:
        spare = event.get("_spare")
        if _can_wait(event) and (not may_stay or rest > INSIDE or (spare and rest > spare())):
            end_round(event, RoundEnd({name: {"kind": "time", "until": end}}))
        time.sleep(rest)


def _now():
    return int(time.time() * 1000)


def _ms(duration):
    return math.ceil(duration / timedelta(milliseconds=1))


def _write_place(task, part):
    """Stores which task the links and webhooks of a place are of. Keeps the first one."""
    value = json.dumps({"owner": task["owner"], "taskId": task["taskId"]})
    write({**task, "owner": "signals#" + part, "taskId": "#task"}, "", ("value",), {"value": {"S": value}})


def _mac(key, name):
    return hmac.new(key.encode(), name.encode(), hashlib.sha256).digest()


def _part(name):
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else "~" + _encoded(name.encode())


def _encoded(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
