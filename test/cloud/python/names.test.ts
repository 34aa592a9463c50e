import { expect, test } from 'vitest';
import { hasPython, runPython } from './run.ts';

/** A step and a wait of one name, and two reports. */
const TWICE = `
import mcp_journal, mcp_task
from datetime import timedelta
mcp_journal.query, mcp_journal.write = (lambda *_: {}), (lambda *_: True)
mcp_task._report = lambda task, *report: print(report)
task = {"taskId": "t", "owner": "o", "table": "t", "results": "b", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
event = {"task": task, "inputResponses": {}, "arguments": {}}
mcp_task.step(event, "job", lambda: 7)
second = timedelta(seconds=1)
try:
    print(mcp_task.until(event, "job", lambda: 8, second, second))
except TypeError as error:
    print(error)
mcp_task.progress(event, "half", 50, 100)
event["_reported"] = 0
mcp_task.progress(event, "still at it")
`;

test.skipIf(!hasPython)(
  'a step and a wait have two names in Python, and a message alone keeps the amount',
  async () => {
    const once = "Wait 'job' comes twice in one run: give each its own name";
    const reports = ["('half', 50, 100)", "('still at it', 50, 100)"];
    expect(await runPython(TWICE)).toBe(`${[once, ...reports].join('\n')}\n`);
  },
);

/** The first two tries of a step fail after all that they do. Then a poll whose check does the same three times. */
const TRIES_AGAIN = `
import mcp_files, mcp_journal, mcp_task, mcp_waits
from datetime import timedelta
stored, done = {}, []
mcp_journal.query = lambda *_: {}
def write(task, end, names, values, *_, **__):
    stored[end] = values["value"]["S"]
    return True
mcp_journal.write = write
mcp_waits._write_place = lambda *_: None
mcp_waits.time.sleep = lambda *_: None
mcp_files._upload = lambda task, label, name, *_: done.append("file") or {"id": "x", "name": name, "type": "text/plain", "bytes": 1, "sha256": "00"}
task = {"taskId": "t", "owner": "o", "table": "t", "results": "b", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
task["signals"] = {"url": "https://mcp.example/signals", "key": "k"}
day, tries = timedelta(days=1), []
def run(arguments, event):
    def work(at):
        mcp_task.step(event, "inner " + at, lambda: done.append("inner"))
        mcp_task.step(event, "around " + at, lambda: mcp_task.step(event, "deep " + at, lambda: done.append("deep")))
        mcp_task.map_steps(event, "item " + at, "ab", done.append)
        mcp_task.file(event, at, "x")
        mcp_task.link(event, "link " + at, "Yes?", {}, day)
        mcp_task.webhook(event, "hook " + at, day)
        mcp_task.sleep(event, "nap " + at, timedelta(0))
        tries.append(at)
        return len(tries) % 3 == 0
    def thirdTime():
        if not work("step"):
            raise KeyError
    mcp_task.step(event, "outer", thirdTime, attempts=3, backoff=0.001)
    print(done, tries)
    done.clear()
    mcp_task.until(event, "poll", lambda: work("poll"), timedelta(seconds=1), day)
    print(done, tries)
    for again in (lambda: mcp_task.file(event, "poll", "x"), lambda: mcp_task.step(event, "inner poll", list)):
        try:
            again()
        except TypeError as error:
            print(error)
mcp_task.tool(run)({"task": task, "inputResponses": {}, "requestState": {}, "arguments": {}}, None)
`;

test.skipIf(!hasPython)('another try in Python may use again what the try before it has used', async () => {
  const lines = [
    "['inner', 'deep', 'a', 'b', 'file'] ['step', 'step', 'step']",
    "['inner', 'deep', 'a', 'b', 'file'] ['step', 'step', 'step', 'poll', 'poll', 'poll']",
    "File 'poll' comes twice in one run: give each its own name",
    "Step 'inner poll' comes twice in one run: give each its own name",
  ];
  expect(await runPython(TRIES_AGAIN)).toBe(`${lines.join('\n')}\n`);
});

/** The time of the first run is used up while a slow item is under way: its work goes on with a file and a map. */
const GOES_ON = `
import mcp_files, mcp_journal, mcp_task, time
stored, charged, released, left = {}, [], [], [60]
mcp_journal.query = lambda *_: dict(stored)
def write(task, end, names, values, allowed=None, before=None, **_):
    if end in stored and not (before and stored[end].get("begun") == before):
        return False
    stored[end] = {name: value["S"] for name, value in values.items() if "S" in value}
    return True
mcp_journal.write = write
mcp_files._noted = lambda task: {}
mcp_files._upload = lambda task, label, name, *_: {"id": "x", "name": name, "type": "text/plain", "bytes": 1, "sha256": "00"}
class Context:
    def get_remaining_time_in_millis(self):
        return left[0] * 1000
def run(arguments, event):
    event["_longest"] = 30
    def work(item):
        charged.append(item)
        if item == "slow":
            waited = 0
            while not event["_journal"].ended and waited < 500:
                time.sleep(0.01)
                waited += 1
            mcp_task.file(event, "receipt.txt", "paid")
            mcp_task.map_steps(event, "part", "ab", lambda part: mcp_task.progress(event, part))
        if item == "quick":
            left[0] = 1
        return item
    return mcp_task.map_steps(event, "order", ["slow", "quick", "last"], work, concurrency=2, at_most_once=True)
def ends(arguments, event):
    def asks():
        try:
            mcp_task.ask(event, "sure", "Sure?", {})
        finally:
            mcp_task.step(event, "release", lambda: released.append(1))
    mcp_task.step(event, "asks", asks)
task = {"taskId": "t", "owner": "o", "table": "t", "results": "b", "round": 1, "attempt": 0, "deadline": 4102444800000, "envelope": 1}
mcp_task._report = lambda *_: True
print(mcp_task.tool(run)({"task": task, "inputResponses": {}, "arguments": {}}, Context())["waits"], charged)
left[0] = 60
print(mcp_task.tool(run)({"task": {**task, "round": 2}, "inputResponses": {}, "arguments": {}}, Context()), charged)
print(list(mcp_task.tool(ends)({"task": task, "inputResponses": {}, "arguments": {}}, Context())["inputRequests"]), released)
`;

test.skipIf(!hasPython)('a step in Python that is under way as the round ends is done once', async () => {
  const lines = [
    "{'more': {'kind': 'more'}} ['slow', 'quick']",
    "['slow', 'quick', 'last'] ['slow', 'quick', 'last']",
    "['sure'] []",
  ];
  expect(await runPython(GOES_ON)).toBe(`${lines.join('\n')}\n`);
});
