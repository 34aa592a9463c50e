"""Tools of mcp-task-server in Python: progress, steps and questions. Copy this file beside your tool.

It needs boto3, which Lambda's Python runtimes have.
"""

import json
import time

DAY = 86_400
MEMORY = 100_000  # Bytes of JSON that all steps of a task may return together.
FULL = "The steps of a task may take %d bytes together" % MEMORY
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
            # Without a step, nothing was read that the next round needs.
            memory = event.get("_memory") or event.get("requestState") or {}
            return {"inputRequests": question.requests, "requestState": memory}

    return handler


def step(event, name, work):
    """Calls `work` once for all rounds and attempts of a task, and returns its JSON result from then on.

    Raises ValueError if there is no room for a result, before the work, or if the result does not fit, after it: then in
    later runs, too, without the work.
    """
    memory = _memory(event)
    if name not in memory["steps"] and name not in memory["misfits"]:
        _fitting(memory, "misfits", name, "x" * 100)
        result = work()
        try:
            memory["steps"][name] = _fitting(memory, "steps", name, result)
        except (TypeError, ValueError) as error:
            memory["misfits"][name] = str(error)[:100]
        if event.get("task") is not None:
            _remember(event, event["task"], memory)
    if name not in memory["steps"]:
        raise ValueError(memory["misfits"][name])
    return memory["steps"][name]


def progress(event, message, done=None, total=None):
    """Shows how far the task is, at most once a second. False when the task is over: stop."""
    global _last_report
    task = event.get("task")
    if task is None or time.monotonic() - _last_report < 1:
        return True
    _last_report = time.monotonic()
    try:
        return _report(task, message, done, total)
    except Exception as error:  # The work goes on without this report.
        print(json.dumps({"event": "progress_failed", "error": type(error).__name__}))
        return True


def _report(task, message, done, total):
    record = _table().get_item(
        TableName=task["table"],
        Key={"owner": {"S": task["owner"]}, "taskId": {"S": task["taskId"]}},
        ConsistentRead=True,
        ProjectionExpression="#status, #round",
        ExpressionAttributeNames={"#status": "status", "#round": "round"},
    ).get("Item")
    if record != {"status": {"S": "working"}, "round": {"N": str(task["round"])}}:
        return False
    report = {"updatedAt": {"N": str(int(time.time() * 1000))}, "statusMessage": {"S": message[:500]}}
    if done is not None:
        report["progress"] = {"N": str(done)}
    if total is not None:
        report["progressTotal"] = {"N": str(total)}
    return _write(task, "", "round", **report)


def _table():
    import boto3  # Not needed by a tool that only asks and returns.
    from botocore.config import Config

    global _client
    # A dead connection must not use up the time of the function.
    _client = globals().get("_client") or boto3.client("dynamodb", config=Config(connect_timeout=5, read_timeout=5))
    return _client


def _fitting(memory, kind, name, value):
    """The value as it is after JSON, if it fits beside what the other steps keep."""
    text = json.dumps({**memory, kind: {**memory[kind], name: value}}, allow_nan=False)
    if len(text) > MEMORY:
        raise ValueError(FULL)
    return json.loads(text)[kind][name]


def _memory(event):
    """What steps have stored, in this round or until the end of the last one: results, and why others could not be kept."""
    if "_memory" not in event:
        memory = {"steps": {}, "misfits": {}}
        _add(memory, event.get("requestState") or {})
        task = event.get("task")
        # A run on Express has a name: an earlier run of its round may have been lost, at attempt 0, too.
        if task is not None and (task["attempt"] > 0 or "run" in task):
            event["_stored"] = _stored(task)
            _add(memory, json.loads(event["_stored"] or "{}"))
        event["_memory"] = memory
    return event["_memory"]


def _add(memory, other):
    for kind in memory:
        memory[kind].update(other.get(kind, {}))


def _stored(task):
    """The JSON text that a run of this round has stored, or None."""
    item = _table().get_item(
        TableName=task["table"],
        Key={"owner": {"S": "progress#" + task["owner"]}, "taskId": {"S": task["taskId"] + "#memory"}},
        ConsistentRead=True,
        ProjectionExpression="#memoryRound, #memory, #expiresAt",
        ExpressionAttributeNames={"#memoryRound": "memoryRound", "#memory": "memory", "#expiresAt": "expiresAt"},
    ).get("Item", {})
    # What has expired is of an older task with the same idempotency key.
    if item.get("memoryRound") != {"N": str(task["round"])} or int(item["expiresAt"]["N"]) < time.time():
        return None
    return item["memory"]["S"]


def _remember(event, task, memory):
    """Stores the steps, with those that another run of this round has stored since."""
    for _ in range(10):  # Each turn, another run has stored a step.
        before, text = event.get("_stored"), json.dumps(memory)
        if text == before:
            return
        allowed, given = "#memoryRound < :memoryRound", {}
        if before is not None:
            allowed += " OR (#memoryRound = :memoryRound AND #memory = :before)"
            given = {":before": {"S": before}}
        if _write(task, "#memory", "memoryRound", allowed, given, memory={"S": text}):
            event["_stored"] = text
            return
        event["_stored"] = _stored(task)
        if event["_stored"] is None:
            return  # A later round has begun.
        # Of a step that two runs have done, the result that was stored first counts, in both.
        _add(memory, json.loads(event["_stored"]))
    raise RuntimeError("Other runs of this round store steps all the time")


def _write(task, suffix, round_name, allowed=None, given=None, **values):
    """Writes beside the record of the task. False when a later round has written, or `allowed` does not hold."""
    allowed = allowed or "#%s <= :%s" % (round_name, round_name)
    values[round_name] = {"N": str(task["round"])}
    values["expiresAt"] = {"N": str(task["deadline"] // 1000 + DAY)}
    table = _table()
    try:
        table.update_item(
            TableName=task["table"],
            Key={"owner": {"S": "progress#" + task["owner"]}, "taskId": {"S": task["taskId"] + suffix}},
            UpdateExpression="SET " + ", ".join("#%s = :%s" % (name, name) for name in values),
            ConditionExpression="attribute_not_exists(#%s) OR #expiresAt < :now OR %s" % (round_name, allowed),
            ExpressionAttributeNames={"#" + name: name for name in values},
            ExpressionAttributeValues={
                **{":" + name: value for name, value in values.items()},
                **{":now": {"N": str(int(time.time()))}},
                **(given or {}),
            },
        )
    except table.exceptions.ConditionalCheckFailedException:
        return False
    return True
