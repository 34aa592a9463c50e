import { expect, test } from 'vitest';
import { hasPython, runPython } from './run.ts';

/** The second round of a task that only asks. */
const ASKS = `
import json, mcp_journal, mcp_task
mcp_journal.client = None
task = {"taskId": "t", "owner": "o", "table": "t", "round": 2, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
def asks(arguments, event):
    return mcp_task.ask(event, "sure", "Sure?", {})
event = {"task": task, "inputResponses": {}, "requestState": {}, "arguments": {}}
print(json.dumps(mcp_task.tool(asks)(event, None)["requestState"]))
`;

test.skipIf(!hasPython)('a run in Python without a step or a report reads no journal', async () => {
  expect(await runPython(ASKS)).toBe('{}\n');
});

/** A client accepts a form that has no fields. */
const ACCEPTS = `
import mcp_task
for answer in ({"action": "accept"}, {"action": "accept", "content": {"x": 1}}, {"action": "decline"}):
    print(mcp_task.ask({"inputResponses": {"sure": answer}}, "sure", "Sure?", {}))
`;

test.skipIf(!hasPython)('an accepted form without fields is no decline in Python', async () => {
  expect(await runPython(ACCEPTS)).toBe("{}\n{'x': 1}\nNone\n");
});

/** A call without a task, whose questions come one after the other. */
const ASKS_TWICE = `
import mcp_task
def asks(arguments, event):
    return [mcp_task.ask(event, name, name, {})["x"] for name in ("a", "b")]
event = {"task": None, "inputResponses": {}, "requestState": None, "arguments": {}}
for name in ("a", "b"):
    state = mcp_task.tool(asks)(dict(event), None)["requestState"]
    event = {**event, "requestState": state, "inputResponses": {name: {"action": "accept", "content": {"x": name}}}}
print(mcp_task.tool(asks)(event, None))
`;

test.skipIf(!hasPython)('a call without a task in Python keeps the answers to its earlier questions', async () => {
  expect(await runPython(ASKS_TWICE)).toBe("['a', 'b']\n");
});

/** A run asks under one name for each of three files. The person has seen the first question. */
const ASKS_AGAIN = `
import mcp_task
answers = {"sure": {"action": "accept", "content": {}}}
event = {"inputResponses": answers, "arguments": {}}
try:
    for name in ("draft", "thesis", "photos"):
        print(name, mcp_task.ask(event, "sure", "Delete %s?" % name, {}))
except mcp_task.Question as question:
    print(question.requests["sure~2"]["params"]["message"])
`;

test.skipIf(!hasPython)('asking twice under one name in Python asks two questions', async () => {
  expect(await runPython(ASKS_AGAIN)).toBe('draft {}\nDelete thesis?\n');
});

/** Each step asks under one name. The person accepts that the draft is deleted. */
const ASKS_IN_STEPS = `
import mcp_journal, mcp_task
stored, rounds, answers, state = {}, [], {}, {}
mcp_journal.query = lambda *_: {end: {"value": value} for end, value in stored.items()}
def write(task, end, names, values, *_, **__):
    stored[end] = values["value"]["S"]
    return True
mcp_journal.write = write
deleted, failures = [], [1]
def run(arguments, event):
    def confirm(file):
        if mcp_task.ask(event, "sure", file, {}) is not None:
            deleted.append(file)
        if failures:
            failures.pop()
            raise KeyError(file)
    for file in ("draft", "thesis", "photos"):
        mcp_task.step(event, file, lambda: confirm(file), attempts=2, backoff=0.001)
    return "done"
for round in range(1, 6):
    task = {"taskId": "t", "owner": "o", "table": "t", "round": round, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
    ended = mcp_task.tool(run)({"task": task, "inputResponses": answers, "requestState": state, "arguments": {}}, None)
    if ended == "done":
        break
    state = ended["requestState"]
    for name, request in ended["inputRequests"].items():
        answers[name] = {"action": "accept" if request["params"]["message"] == "draft" else "decline"}
print(deleted, sorted(answers))
`;

test.skipIf(!hasPython)('each step in Python that asks under one name gets its own answer', async () => {
  expect(await runPython(ASKS_IN_STEPS)).toBe("['draft', 'draft'] ['sure', 'sure~2', 'sure~3']\n");
});

/** The step has begun, and little time is left for the items of a map inside. */
const MAP_IN_STEP = `
import mcp_journal, mcp_task
mcp_journal.query, mcp_journal.write = (lambda *_: {}), (lambda *_: True)
task = {"taskId": "t", "owner": "o", "table": "t", "round": 2, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
left = [60]
class Context:
    def get_remaining_time_in_millis(self):
        return left[0] * 1000
def slow(item):
    left[0] = 1
    return item
def run(arguments, event):
    event["_longest"] = 30
    mcp_task.step(event, "first", lambda: 0)
    inner = lambda: mcp_task.map_steps(event, "card", [1, 2, 3], slow, concurrency=1)
    return mcp_task.step(event, "all", inner, at_most_once=True)
print(mcp_task.tool(run)({"task": task, "inputResponses": {}, "arguments": {}}, Context()))
`;

test.skipIf(!hasPython)('a map inside a step in Python does not end the round', async () => {
  expect(await runPython(MAP_IN_STEP)).toBe('[1, 2, 3]\n');
});

/** While a thread reports, and so reads the journal, the run does a step that an earlier run has stored. */
const TWO_THREADS = `
import mcp_journal, mcp_task, threading
reading, go_on, queries = threading.Event(), threading.Event(), []
def query(*_):
    queries.append(1)
    reading.set()
    go_on.wait(5)
    return {"#step#pay": {"value": "7"}}
mcp_journal.query, mcp_journal.write, mcp_task._report = query, (lambda *_: True), lambda *_: True
task = {"taskId": "t", "owner": "o", "table": "t", "round": 2, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
event = {"task": task, "inputResponses": {}}
report = threading.Thread(target=lambda: mcp_task.progress(event, "works"))
report.start()
reading.wait(5)
threading.Timer(0.2, go_on.set).start()
print(mcp_task.step(event, "pay", lambda: "paid twice"), len(queries))
report.join()
`;

test.skipIf(!hasPython)('a step in Python is done once, also while another thread reads the journal', async () => {
  expect(await runPython(TWO_THREADS)).toBe('7 1\n');
});

/** The second of five items was begun by an earlier run, and what makes its result raises. */
const INTERRUPTED = `
import mcp_journal, mcp_task
begun = mcp_journal.INTERRUPTED
mcp_journal.query, done = (lambda *_: {"#step#all 2/5": {"begun": begun}}), []
mcp_journal.write = lambda *_: True
task = {"taskId": "t", "owner": "o", "table": "t", "round": 2, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
def raises(item):
    raise KeyError(item)
try:
    print(mcp_task.map_steps({"task": task, "inputResponses": {}}, "all", [1, 2, 3, 4, 5], done.append, 1, raises, at_most_once=True))
except KeyError as error:
    print(repr(error), done)
`;

test.skipIf(!hasPython)('an error of interrupted in Python ends the map with that error', async () => {
  expect(await runPython(INTERRUPTED)).toBe('KeyError(2) [1]\n');
});

/** A tool that catches the end of its round, and goes on. */
const GOES_ON = `
import mcp_journal, mcp_task
mcp_journal.write = lambda *_: True
task = {"taskId": "t", "owner": "o", "table": "t", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
done = []
def catches(arguments, event):
    try:
        mcp_task.ask(event, "sure", "Sure?", {})
    except:
        print(mcp_task.progress(event, "still here"))
    return "not asked"
def cleans_up(arguments, event):
    try:
        mcp_task.ask(event, "sure", "Sure?", {})
    finally:
        mcp_task.step(event, "release", lambda: done.append(1))
def fails(arguments, event):
    try:
        mcp_task.ask(event, "sure", "Sure?", {})
    finally:
        raise KeyError
for run in (catches, cleans_up, fails):
    event = {"task": task, "inputResponses": {}, "requestState": {}, "arguments": {}}
    try:
        print(list(mcp_task.tool(run)(event, None)["inputRequests"]), done)
    except KeyError:
        print("fails")
`;

test.skipIf(!hasPython)(
  'after the end of its round a run in Python does nothing more; another error fails it',
  async () => {
    expect(await runPython(GOES_ON)).toBe("False\n['sure'] []\n['sure'] []\nfails\n");
  },
);

/** With little time left a step stores a file, and another one fails. */
const IN_STEP = `
import mcp_files, mcp_journal, mcp_task, threading
mcp_journal.write, mcp_journal.query = (lambda *_: True), lambda *_: {}
mcp_files._upload = lambda task, label, name, *_: {"id": "x", "name": name, "type": "text/plain", "bytes": 1, "sha256": "00"}
class Context:
    left = 60000
    def get_remaining_time_in_millis(self):
        return Context.left
task = {"taskId": "t", "owner": "o", "table": "t", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
def charges(arguments, event):
    mcp_task.step(event, "before", lambda: 1)
    def charge():
        Context.left = 1
        mcp_task.file(event, "receipt", "paid")
        return "charged"
    return mcp_task.step(event, "charge", charge, at_most_once=True)
def event():
    return {"task": task, "inputResponses": {}, "requestState": {}, "arguments": {}}
print(mcp_task.tool(charges)(event(), Context()))
def fails(arguments, event):
    Context.left = 60000
    mcp_task.step(event, "before", lambda: 1)
    def fail():
        Context.left = 1
        side = threading.Thread(target=ends, args=(event,))
        side.start()
        side.join()
        raise ValueError("card declined")
    mcp_task.step(event, "charge", fail, at_most_once=True)
def ends(event):
    try:
        mcp_task.step(event, "beside", lambda: 1)
    except mcp_task.RoundEnd:
        pass
try:
    print(mcp_task.tool(fails)(event(), Context()))
except ValueError as error:
    print(error)
`;

test.skipIf(!hasPython)('a step in Python ends no round from inside, and its error is not lost', async () => {
  expect(await runPython(IN_STEP)).toBe('charged\ncard declined\n');
});

/** No server listens there. */
const REPORTS = `
import mcp_task
task = {"taskId": "t", "owner": "o", "table": "t", "round": 1, "attempt": 0, "deadline": 4102444800000}
print(mcp_task.progress({"task": task}, "works", float("nan")))
`;

test.skipIf(!hasPython)('a report in Python that cannot be written does not end the work', async () => {
  const stdout = await runPython(REPORTS, {
    ...{ AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_DEFAULT_REGION: 'r', AWS_MAX_ATTEMPTS: '1' },
    ...{ AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' },
  });
  expect(stdout).toBe('{"event": "progress_failed", "error": "EndpointConnectionError"}\nTrue\n');
});
