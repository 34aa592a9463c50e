import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fileKey } from '../../functions/tasks/files/file.ts';

/** Not every machine has Python with boto3. */
const hasPython = spawnSync('python3', ['-c', 'import boto3']).status === 0;

test.skipIf(!hasPython)('files in Python have the names and headers of files in TypeScript', async () => {
  const vectors = 'test/functions/tasks/files/vectors.json';
  const script = `
import json, mcp_files
for name, type, part, header in json.load(open('${vectors}', encoding='utf-8')):
    assert (mcp_files.path_name(name), mcp_files._disposition(name, type)) == (part, header), name
print(mcp_files._key({"owner": "o", "taskId": "t"}, "id"))
`;
  expect(await runPython(script)).toBe(`${fileKey({ owner: 'o', taskId: 't' }, 'id')}\n`);
});

/** The note of the file is refused: the one that is there expires later. */
const STORES = `
import json, mcp_files
from unittest.mock import MagicMock
task = {"taskId": "t", "owner": "o", "table": "t", "results": "b", "round": 1, "attempt": 0, "deadline": 4102444800000}
mcp_files.client, mcp_files.write = MagicMock(), lambda *_, **__: False
mcp_files.client("s3").upload_fileobj.side_effect = lambda source, *_, **__: source.read()
def noted(deadline):
    note = {"id": "x", "name": "a", "type": "text/plain", "bytes": 9, "sha256": "00", "deadline": deadline}
    mcp_files.query = lambda *_: {"#a": {"value": json.dumps(note)}}
    print(mcp_files.file({"task": task}, "a", "new")["size"])
noted(task["deadline"])
noted(task["deadline"] + 1)
`;

test.skipIf(!hasPython)('a file in Python is the first of its task, and never one of an older task', async () => {
  expect(await runPython(STORES)).toBe('9\n3\n');
});

/** A file that is copied from an object, which changes meanwhile. */
const COPIES = `
import mcp_files
from botocore.exceptions import ClientError
from unittest.mock import MagicMock
task = {"taskId": "t", "owner": "o", "table": "t", "results": "b", "round": 1, "attempt": 0, "deadline": 4102444800000}
mcp_files.client, mcp_files.write = MagicMock(), lambda *_, **__: print("noted")
mcp_files.client("s3").upload_fileobj.side_effect = lambda source, *_, **__: source.read(20)
mcp_files.client("s3").exceptions.ClientError = ClientError
def copied():
    yield b"0123456789"
    raise ClientError({"Error": {"Code": "PreconditionFailed"}}, "GetObject")
try:
    mcp_files.file({"task": task}, "a", copied)
except ClientError as error:
    print(error.operation_name)
`;

test.skipIf(!hasPython)('an error of the source of a file in Python is never one of its upload', async () => {
  expect(await runPython(COPIES)).toBe('GetObject\n');
});

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

/** A tool that only stores files. With the second one its time is used up. */
const FILES_ONLY = `
import mcp_files, mcp_task
uploads = []
mcp_files._upload = lambda task, label, name, *_: uploads.append(name) or {"id": "x", "name": name, "type": "text/plain", "bytes": 1, "sha256": "00"}
class Context:
    def get_remaining_time_in_millis(self):
        return 60000 if len(uploads) < 2 else 1000
task = {"taskId": "t", "owner": "o", "table": "t", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
def stores(arguments, event):
    for name in "abcd":
        mcp_task.file(event, name, name)
event = {"task": task, "inputResponses": {}, "requestState": {}, "arguments": {}}
print(mcp_task.tool(stores)(event, Context())["waits"], uploads)
`;

test.skipIf(!hasPython)('a run in Python with little time left begins no further file', async () => {
  expect(await runPython(FILES_ONLY)).toBe("{'more': {'kind': 'more'}} ['a', 'b']\n");
});

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

async function runPython(script: string, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = {
    ...process.env,
    ...{ PYTHONPATH: 'functions/examples/python', PYTHONDONTWRITEBYTECODE: '1' },
    ...variables,
  };
  return (await promisify(execFile)('python3', ['-c', script], { env, timeout: 30_000 })).stdout;
}
