import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { clientConfig } from '../../local/test/fixture.ts';
import { synthApp } from '../../local/testing.ts';
import { modernRequest, poll } from '../support/clients.ts';

/** Not every machine has Python with boto3. */
const hasPython = spawnSync('python3', ['-c', 'import boto3']).status === 0;
const assembly = mkdtempSync(join(tmpdir(), 'mcp-python-'));
let cloud: Cloud;

beforeAll(async () => {
  if (!hasPython) return;
  await synthApp('test/support/apps/python-app.ts', assembly);
  cloud = await startCloud({ assembly, recordCalls: true, schedules: false });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(assembly, { recursive: true, force: true });
});

const asking = {
  elicitation: { form: {} },
  extensions: { 'io.modelcontextprotocol/tasks': {} },
};
async function started(limit: number) {
  const params = { name: 'count_primes', arguments: { limit } };
  const { body } = await modernRequest(`${cloud.url}/mcp`, 'tools/call', params, { capabilities: asking });
  return body.result.taskId as string;
}
const answer = (taskId: string, go: boolean) =>
  modernRequest(`${cloud.url}/mcp`, 'tasks/update', {
    taskId,
    inputResponses: { 'r1.sure': { action: 'accept', content: { go } } },
  });

test.skipIf(!hasPython)('a tool in Python asks, shows its progress and ends with its result (E-27)', async () => {
  const taskId = await started(60_000);
  const asked = await poll(`${cloud.url}/mcp`, taskId, ({ status }) => status !== 'working');
  expect(asked.inputRequests['r1.sure'].params.message).toBe('Count primes below 60000? It takes a while.');
  await answer(taskId, true);
  const messages = new Set<string>();
  const done = await poll(`${cloud.url}/mcp`, taskId, (task) => {
    if (task.status === 'working' && task.statusMessage) messages.add(task.statusMessage);
    return task.status !== 'working' && task.status !== 'input_required';
  });
  expect(done).toMatchObject({ status: 'completed', result: { content: [{ text: '6057 primes below 60000' }] } });
  expect([...messages].join()).toMatch(/primes below \d+/);
  const stored = cloud.calls.since().filter(({ input }) => JSON.stringify(input).includes(`${taskId}#memory`));
  expect(stored.length).toBe(6);
});

test.skipIf(!hasPython)('a declined question ends the tool with its text', async () => {
  const taskId = await started(30_000);
  await poll(`${cloud.url}/mcp`, taskId, ({ status }) => status === 'input_required');
  await answer(taskId, false);
  const done = await poll(`${cloud.url}/mcp`, taskId, ({ status }) => status === 'completed');
  expect(done.result.content[0].text).toBe('Nothing was counted.');
});

/** Runs of one round as on Express, with the table of the cloud. The run that asks has no table. */
const RUNS = `
import json, sys, mcp_task
task = {"taskId": "t", "owner": "o", "table": sys.argv[1], "round": 1, "attempt": 0, "deadline": 4102444800000}
done = []
def work(run, names):
    for name in names:
        mcp_task.step(run, name, lambda: done.append(name) or name)
def run(name):
    return {"task": {**task, "run": name}, "inputResponses": {}, "requestState": None, "arguments": {}}
lost, again = run("lost"), run("again")
work(lost, ["one", "two"])
work(again, ["one", "two", "three"])
work(lost, ["four"])
work(run("last"), ["one", "two", "three", "four"])
def asks(arguments, event):
    return mcp_task.ask(event, "sure", "Sure?", {})
mcp_task._table = None
asked = mcp_task.tool(asks)(run("asks"), None)
print(json.dumps({"done": done, "asked": asked["requestState"]}))
`;

test.skipIf(!hasPython)(
  'a run on Express in Python repeats no step of a lost run, and loses none of another',
  async () => {
    const { endpoint, region, credentials } = clientConfig(cloud, 'python');
    const stdout = await runPython(RUNS, cloud.tables[0] ?? '', {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
    expect(JSON.parse(stdout)).toEqual({ done: ['one', 'two', 'three', 'four'], asked: {} });
  },
);

/** Steps of a direct call, which has no table. */
const STEPS = `
import json, mcp_task
done = []
def tried(name, result):
    try:
        return mcp_task.step(run, name, lambda: done.append(name) or result)
    except ValueError as error:
        return str(error)
run = {"requestState": None}
ends = [tried("large", "x" * 100_000), tried("nan", float("nan")), tried("tuple", (1, 2))]
ends += [tried("large", 1), len(tried("full", "x" * 99_780)), tried("no room", 1)]
run = {"requestState": json.loads(json.dumps(run["_memory"]))}
ends += [tried("nan", 1)]
print(json.dumps({"done": done, "ends": ends}))
`;

test.skipIf(!hasPython)('a step in Python that does not fit is not kept, and its work is not done again', async () => {
  const { done, ends } = JSON.parse(await runPython(STEPS));
  const full = 'The steps of a task may take 100000 bytes together';
  const nan = expect.stringContaining('not JSON compliant');
  expect(ends).toEqual([full, nan, [1, 2], full, 99_780, full, nan]);
  expect(done).toEqual(['large', 'nan', 'tuple', 'full']);
});

/** No server listens there. */
const REPORTS = `
import mcp_task
task = {"taskId": "t", "owner": "o", "table": "t", "round": 1, "attempt": 0, "deadline": 4102444800000}
print(mcp_task.progress({"task": task}, "works", float("nan")))
`;

test.skipIf(!hasPython)('a report in Python that cannot be written does not end the work', async () => {
  const stdout = await runPython(REPORTS, '', {
    ...{ AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_DEFAULT_REGION: 'r', AWS_MAX_ATTEMPTS: '1' },
    ...{ AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' },
  });
  expect(stdout).toBe('{"event": "progress_failed", "error": "EndpointConnectionError"}\nTrue\n');
});

async function runPython(script: string, argument = '', variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = {
    ...process.env,
    ...{ PYTHONPATH: 'functions/examples/python', PYTHONDONTWRITEBYTECODE: '1' },
    ...variables,
  };
  return (await promisify(execFile)('python3', ['-c', script, argument], { env })).stdout;
}
