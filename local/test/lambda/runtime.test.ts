import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createLambda, type FunctionSpec } from '../../lambda/index.ts';
import { openRuntimeApi } from '../../lambda/runtime/runtime-api.ts';
import { hasPython } from './has-python.ts';

const folder = mkdtempSync(join(tmpdir(), 'mcp-runtime-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function functionOf(name: string, file: string, text: string, runtime = 'python3.13'): FunctionSpec {
  const codePath = join(folder, name);
  mkdirSync(codePath);
  writeFileSync(join(codePath, file), text);
  chmodSync(join(codePath, file), 0o755);
  return {
    ...{
      name,
      arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
      codePath,
      handler: 'index.handler',
      runtime,
    },
    ...{ timeoutSeconds: 2, memoryMb: 128, environment: { GREETING: 'grüß' } },
  };
}

function running(spec: FunctionSpec) {
  const lines: string[] = [];
  const lambda = createLambda([spec], { onLog: (_name, line) => void lines.push(line) });
  onTestFinished(() => lambda.stop());
  return { lines, invoke: (event: unknown) => lambda.invoke(spec.name, JSON.stringify(event)), lambda };
}

test.skipIf(!hasPython)('a Python function gets its event, its environment and its context', async () => {
  const { invoke, lines } = running(
    functionOf(
      'echo',
      'index.py',
      `import os
def handler(event, context):
    print("a line of", context.function_name)
    return {"event": event, "greeting": os.environ["GREETING"], "left": context.get_remaining_time_in_millis()}`,
    ),
  );
  for (const n of [1, 2]) {
    const { payload, functionError } = await invoke({ n, text: 'ä😀\u2028' });
    expect(functionError).toBeUndefined();
    const { event, greeting, left } = JSON.parse(payload);
    expect({ event, greeting }).toEqual({ event: { n, text: 'ä😀\u2028' }, greeting: 'grüß' });
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(2_000);
  }
  expect(lines).toEqual(['a line of echo', 'a line of echo']);
});

test.skipIf(!hasPython)('a Decimal and NaN become the same as on AWS; no proxy is used', async () => {
  const text =
    'from decimal import Decimal\ndef handler(e, c):\n    return [Decimal("1"), Decimal("1.5"), float("nan")]';
  const spec = functionOf('numbers', 'index.py', text);
  const { invoke } = running({
    ...spec,
    environment: { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' },
  });
  expect((await invoke({})).payload).toBe('[1, 1.5, null]');
});

test('the runtime API answers only the process that it was opened for', async () => {
  const api = await openRuntimeApi(() => {});
  onTestFinished(() => api.close());
  const [host = '', secret = ''] = api.host.split('/');
  const next = '2018-06-01/runtime/invocation/next';
  api.invoke({ type: 'invoke', id: 'i', payload: '{}', mode: 'buffered', deadline: 0, functionArn: 'arn' });
  expect((await fetch(`http://${host}/${next}`)).status).toBe(403);
  const rebound = request(`http://${host}/${secret}/${next}`, { headers: { host: 'evil.example' } });
  const [answer] = await once(rebound.end(), 'response');
  expect(answer.statusCode).toBe(403);
  expect((await fetch(`http://${api.host}/${next}`)).status).toBe(200);
});

test.skipIf(!hasPython)('an error of Python has the name, the file and the line', async () => {
  const { invoke } = running(
    functionOf('raises', 'index.py', 'def handler(event, context):\n    raise KeyError("order")'),
  );
  const { payload, functionError } = await invoke({});
  expect(functionError).toBe('Unhandled');
  expect(JSON.parse(payload)).toMatchObject({ errorType: 'KeyError', errorMessage: "'order'" });
  expect(JSON.parse(payload).trace[0]).toMatch(/handler \(.*raises\/index\.py:2\)/);
});

test.skipIf(!hasPython)('a function that cannot load, hangs or exits fails by the name of AWS', async () => {
  const broken = running(functionOf('broken', 'index.py', 'import no_such_module'));
  expect(JSON.parse((await broken.invoke({})).payload)).toMatchObject({ errorType: 'ModuleNotFoundError' });
  const hangs = running(functionOf('hangs', 'index.py', 'import time\ndef handler(e, c):\n    time.sleep(60)'));
  expect(JSON.parse((await hangs.invoke({})).payload).errorType).toBe('Sandbox.Timedout');
  const exits = running(functionOf('exits', 'index.py', 'import os\ndef handler(e, c):\n    os._exit(3)'));
  expect(JSON.parse((await exits.invoke({})).payload)).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('exit status 3'),
  });
});

test('a function that brings its runtime runs by its file bootstrap', async () => {
  const text = `#!/bin/sh
while true; do
  curl -s -D headers -o event "http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation/next" || exit 1
  id=$(grep -i request-id headers | tr -d '\\r' | cut -d' ' -f2)
  curl -s -d @event "http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation/$id/response"
done`;
  const { invoke } = running(functionOf('shell', 'bootstrap', text, 'provided.al2023'));
  expect((await invoke({ n: 1 })).payload).toBe('{"n":1}');
});

test('a runtime that is not on this machine fails its functions, and says what to install', async () => {
  const before = process.env.PATH;
  process.env.PATH = folder;
  onTestFinished(() => {
    process.env.PATH = before;
  });
  const { invoke } = running(functionOf('absent', 'index.py', ''));
  const { errorMessage } = JSON.parse((await invoke({})).payload);
  expect(errorMessage).toBe('python3 is not on this machine: install it to run python3.13');
});

test('a function of another runtime fails, and says which ones run', async () => {
  const { invoke } = running(functionOf('java', 'index.jar', '', 'java25'));
  const { errorMessage } = JSON.parse((await invoke({})).payload);
  expect(errorMessage).toBe('java25 does not run here, only Node, Python and provided.al20… do');
});
