"""What the runs of a task have done once, beside its record. For mcp_task.py."""

import hashlib
import json
import threading
import time
import uuid

DAY = 86_400
NAME = 64  # Characters of the name of a step or a wait.
ENTRIES = 10_000  # Steps and waits of a task.
BYTES = 100_000_000  # Of the results of all steps of a task, as JSON.
VALUE = 6_000_000  # Of one result.
INLINE = 4_000  # Of a result in the table: a larger one lies in S3.
ITEM = 100_000  # Of a result in the table, if S3 refuses it.
CARRIED = 100_000  # Of all results of a call without a task.
LEVELS = 500  # Of nesting.
REASON = 400  # Bytes that are kept free for a step: for its name, and why its result cannot be kept.
INTERRUPTED = "interrupted"  # In place of the mark of the run that began a step.
ENTRY = ("value", "bytes", "sha256", "misfit", "begun", "variables", "round", "order")
# The key of the table.
PARTITION, SORT = "owner", "taskId"
READ = ("value", "bytes", "sha256", "misfit", "begun", "progress", "progressTotal", "expiresAt")
_clients = {}
_lock = threading.Lock()  # The items of a map are done by threads.


class StepInterrupted(Exception):
    """A step with `at_most_once` was begun by a run that did not store its result: it may have done its work."""


class StepLost(Exception):
    """The stored result of a step is missing in S3, or is another one."""


def journal_of(event):
    """The journal of a run, which is read at most once."""
    if "_journal" not in event:
        event.setdefault("_journal", Journal(event))  # Of two threads, the first one's.
    return event["_journal"]


class Journal:
    """Entries by what their keys have behind the id of the task: `#step#<name>`, `#wait#<name>`."""

    def __init__(self, event):
        self.task, self.state = event.get("task"), event.get("requestState") or {}
        self.answers = event.get("inputResponses") or {}
        # Without an envelope a state machine calls, perhaps one of several functions: the steps are of this call only.
        self.in_machine = self.task is not None and self.task.get("envelope") != 1
        if self.task is None:  # It brings only the answers to its last questions.
            self.answers = {**(self.state.get("answers") or {}), **self.answers}
        # The steps that asked, by the names of their questions. The next round gets them.
        self.asked_by = dict(self.state.get("questions") or {})
        self.mark = str(uuid.uuid4())
        self.entries, self.bytes, self.past, self.reported = None, 0, 0, None
        self.reading = threading.Lock()
        self.ended = None  # What ends the round. After it nothing that the run does counts, but for steps that are under way.
        self.ended_steps = set()  # Whose own code has come to the end of the round.
        self.files = 0  # That this run has stored.
        self.contended = False  # Whether another run works beside this one: it has stored an entry first.

    def once(self, kind, name, work, at_most_once=False, begin=None):
        """The value of an entry, made once. `begin` raises if the run may not begin now what no run has done."""
        label = "%s '%s'" % (kind.capitalize(), str(name)[:NAME])
        if not _is_name(name):
            raise ValueError("%s: a name has 1 to %d characters" % (label, NAME))
        end = "#%s#%s" % (kind, name)
        self.read()
        entry = self.entries.get(end) or (self._found(end) if self.contended else None)
        if entry is None:
            if begin:
                begin()
            if len(self.entries) >= ENTRIES:
                raise ValueError("%s does not fit: a task may have %d steps" % (label, ENTRIES))
            if not self._has_room(REASON):
                raise ValueError("%s %s" % (label, self._no_room()))
            entry = self._first(end, work, at_most_once)
        return self._result(end, label, entry)

    def names(self):
        """The names of the steps that are stored, as far as this run knows."""
        self.read()
        return [_name(end) for end in list(self.entries) if end.startswith("#step#")]

    def has_new(self):
        """Whether the task has done something since this run began."""
        return self.files > 0 or len(self.entries or ()) > self.past

    def amount_of(self, done, total):
        """The amount that a report may show. None: an earlier run has reported more of the same total."""
        self.read()
        if self.reported is None:
            return done, total
        if done is None:
            return self.reported
        if total == self.reported[1] and done < self.reported[0]:
            return None
        self.reported = None
        return done, total

    def carried(self):
        """What the next round gets. What a task has done is in its journal."""
        questions = {"questions": self.asked_by} if self.asked_by else {}
        if self.task is not None:
            return {**self.state, **questions}
        self.read()
        entries = list(self.entries.items())
        steps = {_name(end): json.loads(entry["value"]) for end, entry in entries if "value" in entry}
        misfits = {_name(end): entry["misfit"] for end, entry in entries if "misfit" in entry}
        return {"steps": steps, "misfits": misfits, "answers": self.answers, **questions}

    def read(self):
        """Loads what other runs of the task may have stored. A thread that reports may ask for it, too: each one waits until all is there."""
        with self.reading:
            if self.entries is not None:
                return
            found = self._loaded()
            self.bytes = sum(_size(entry) for entry in found.values())
            self.past, self.entries = len(found), found

    def _loaded(self):
        task, found = self.task, {}
        if task is None:
            for name, value in self.state.get("steps", {}).items():
                found["#step#" + name] = {"value": json.dumps(value)}
            for name, misfit in self.state.get("misfits", {}).items():
                found["#step#" + name] = {"misfit": misfit}
        # A run on Express has a name: an earlier run of its round may have been lost, at attempt 0, too.
        elif not self.in_machine and (task["round"] > 1 or task["attempt"] > 0 or "run" in task):
            for end, item in query(task, "begins_with(#sort, :sort)", "").items():
                if end.startswith(("#step#", "#wait#")):
                    found[end] = item
                elif end == "" and "progress" in item:
                    self.reported = (item["progress"], item.get("progressTotal"))
        return found

    def _first(self, end, work, at_most_once):
        """Makes a value that no run has made, and stores it. The entry that counts: of two runs, the first one's."""
        if at_most_once and self.in_machine:
            why = "a state machine calls this function, and does not keep its steps"
            what = "%s cannot have at_most_once: %s. Leave it out, and give the state no retry"
            raise TypeError(what % (end[1:].replace("#", " "), why))
        if not at_most_once or self.task is None:
            return self._put(end, self._fitted(end, work()))
        begun = self._put(end, {"begun": self.mark})
        if begun.get("begun") != self.mark:
            return begun
        return self._put(end, self._fitted(end, work()), self.mark)

    def _fitted(self, end, value):
        try:
            text = _json(value)
            size, levels = len(text.encode()), _levels(json.loads(text))
        except (TypeError, ValueError, RecursionError):
            return {"misfit": "is not JSON"}
        most = CARRIED if self.task is None else VALUE
        if levels > LEVELS:
            return {"misfit": "is nested deeper than %d levels" % LEVELS}
        if size > most:
            return {"misfit": "takes %d bytes as JSON, and may take %d bytes" % (size, most)}
        return {"value": text} if self._has_room(size + len(_name(end).encode())) else {"misfit": self._no_room()}

    def _has_room(self, size):
        if self.task is None:
            return len(_json(self.carried()).encode()) + size <= CARRIED
        return self.bytes + size <= BYTES

    def _no_room(self):
        what = ("a task", BYTES) if self.task else ("a call without a task", CARRIED)
        return "does not fit: the steps of %s may take %d bytes together" % what

    def _result(self, end, label, entry):
        if "misfit" in entry:
            raise ValueError("%s %s" % (label, entry["misfit"]))
        lost = StepLost("The stored result of step '%s' is missing, or is not the one that was stored" % _name(end))
        if "value" not in entry and "sha256" not in entry:
            if "begun" not in entry:
                raise lost
            if entry["begun"] == INTERRUPTED:
                raise StepInterrupted(label + " was begun and not finished: it does not run again")
            # From now on no run can store a result: what this one raises holds for all.
            return self._result(end, label, self._put(end, {"begun": INTERRUPTED}, entry["begun"]))
        try:
            return json.loads(entry["value"] if "value" in entry else _large(self.task, entry, lost))
        except ValueError:
            raise lost from None

    def _put(self, end, entry, before=None):
        if self.task is None or self.in_machine:
            return self._add(end, entry)
        placed = _placed(self.task, entry)
        values = {key: {"N" if key == "bytes" else "S": str(value)} for key, value in placed.items()}
        if write(self.task, end, ENTRY, values, "#begun = :before" if before else None, before):
            self._add(end, placed)
            return entry
        self.contended = True
        return self._found(end) or {**entry, **({"begun": INTERRUPTED} if "begun" in entry else {})}

    def _found(self, end):
        """What another run has stored since the journal was read."""
        entry = query(self.task, "#sort = :sort", end).get(end)
        return None if entry is None else self._add(end, entry)

    def _add(self, end, entry):
        with _lock:
            self.entries[end] = entry
            self.bytes += _size(entry)
        return entry


def _size(entry):
    return entry["bytes"] if "bytes" in entry else len(entry.get("value", "").encode())


def _name(end):
    return end.split("#", 2)[2]


def _json(value):
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _is_name(name):
    try:
        return isinstance(name, str) and len(name) <= NAME and len(name.encode()) > 0
    except UnicodeEncodeError:  # Half of a surrogate pair.
        return False


def _levels(value):
    levels, inner = 0, [value]
    while inner := [one for one in inner if isinstance(one, (dict, list))]:
        levels += 1
        inner = [child for one in inner for child in (one.values() if isinstance(one, dict) else one)]
    return levels


def _placed(task, entry):
    """The entry as it is in the table. A large value is stored in S3 before it."""
    body = entry.get("value", "").encode()
    if len(body) <= INLINE:
        return entry
    sha256 = hashlib.sha256(body).hexdigest()
    try:
        key = _key(task, sha256)
        client("s3").put_object(Bucket=task["results"], Key=key, Body=body, ContentType="application/json")
    except Exception:
        if len(body) <= ITEM:  # The work is done. An item takes this much, at a higher price.
            return entry
        raise
    return {"bytes": len(body), "sha256": sha256}


def _large(task, entry, lost):
    from botocore.exceptions import ClientError

    try:
        body = client("s3").get_object(Bucket=task["results"], Key=_key(task, entry["sha256"]))["Body"].read()
    except ClientError as error:
        # S3 says AccessDenied of what is missing to a role that may not list the bucket.
        if error.response["Error"]["Code"] in ("NoSuchKey", "AccessDenied"):
            raise lost from None
        raise
    if hashlib.sha256(body).hexdigest() != entry["sha256"]:
        raise lost
    return body


def _key(task, sha256):
    return "steps/%s/%s/%s" % (hashlib.sha256(task["owner"].encode()).hexdigest(), task["taskId"], sha256)


def client(service):
    import boto3  # Not needed by a tool that only asks and returns.
    from botocore.config import Config

    with _lock:
        if service not in _clients:
            # A dead connection must not use up the time of the function.
            _clients[service] = boto3.client(service, config=Config(connect_timeout=5, read_timeout=5))
        return _clients[service]


def key_of(partition, sort):
    return {PARTITION: {"S": partition}, SORT: {"S": sort}}


def query(task, condition, end, partition="progress#"):
    """Items beside the record, by what their keys have behind the id of the task."""
    pages = client("dynamodb").get_paginator("query").paginate(
        TableName=task["table"],
        KeyConditionExpression="#partition = :partition AND " + condition,
        Select="SPECIFIC_ATTRIBUTES",
        ProjectionExpression=", ".join("#" + name for name in ("sort",) + READ),
        ExpressionAttributeNames={"#partition": PARTITION, "#sort": SORT, **{"#" + name: name for name in READ}},
        ExpressionAttributeValues={
            ":partition": {"S": partition + task["owner"]},
            ":sort": {"S": task["taskId"] + end},
        },
        ConsistentRead=True,
    )
    found = {}
    for page in pages:
        for item in page["Items"]:
            plain = {name: float(value["N"]) if "N" in value else value.get("S") for name, value in item.items()}
            # What has expired is of an older task with the same idempotency key.
            if plain.get("expiresAt", 0) >= int(time.time()):
                found[plain[SORT][len(task["taskId"]) :]] = plain
    return found


def write(task, end, names, values, allowed=None, before=None, partition="progress#"):
    """Writes an item beside the record if there is none, or if `allowed` holds. False: another item is there."""
    # On Express a run may end before its task.
    deadline = task.get("taskDeadline", task["deadline"])
    values = {**values, "expiresAt": {"N": str(deadline // 1000 + DAY)}}
    gone = ["#" + name for name in names if name not in values]
    conditions = ["attribute_not_exists(#expiresAt)", "#expiresAt < :now"] + ([allowed] if allowed else [])
    table = client("dynamodb")
    try:
        table.update_item(
            TableName=task["table"],
            Key=key_of(partition + task["owner"], task["taskId"] + end),
            UpdateExpression="SET " + ", ".join("#%s = :%s" % (name, name) for name in values)
            + (" REMOVE " + ", ".join(gone) if gone else ""),
            ConditionExpression=" OR ".join(conditions),
            ExpressionAttributeNames={"#" + name: name for name in names + ("expiresAt",)},
            ExpressionAttributeValues={
                **{":" + name: value for name, value in values.items()},
                **{":now": {"N": str(int(time.time()))}},
                **({":before": {"S": before}} if before else {}),
            },
        )
    except table.exceptions.ConditionalCheckFailedException:
        return False
    return True
