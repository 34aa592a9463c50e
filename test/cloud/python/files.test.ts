import { expect, test } from 'vitest';
import { fileKey } from '../../../functions/tasks/files/file.ts';
import { hasPython, runPython } from './run.ts';

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

/** A map stores more files than a task may have, some at the same time. */
const TOO_MANY = `
import mcp_files, mcp_journal, mcp_task, time
stored = []
mcp_journal.query, mcp_journal.write = (lambda *_: {}), (lambda *_, **__: True)
def upload(task, label, name, *_):
    time.sleep(0.005)
    stored.append(name)
    return {"id": "x", "name": name, "type": "text/plain", "bytes": 1, "sha256": "00"}
mcp_files._upload = upload
task = {"taskId": "t", "owner": "o", "table": "t", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
def stores(arguments, event):
    return mcp_task.map_steps(event, "file", range(130), lambda n: mcp_task.file(event, "f%d" % n, "x")["name"], 30)
try:
    mcp_task.tool(stores)({"task": task, "inputResponses": {}, "arguments": {}}, None)
except ValueError as error:
    print(len(stored), str(error).split(": ")[1])
`;

test.skipIf(!hasPython)('a map in Python stores no more files than a task may have', async () => {
  expect(await runPython(TOO_MANY)).toBe('100 a task has 100 files at most\n');
});
