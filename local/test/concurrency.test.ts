import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../cloud.ts';
import { synthApp } from '../template/synth.ts';
import { clientConfig, temporaryDir } from './fixture.ts';

let cloud: Cloud;
let lambda: LambdaClient;
let FunctionName: string;
const lines: string[] = [];

const worked = () => lines.filter((line) => line.includes(FunctionName) && line.includes('working')).length;

beforeAll(async () => {
  const assembly = temporaryDir();
  await synthApp('local/test/app/app.ts', assembly);
  const onLog = (source: string, line: string) => lines.push(`${source}: ${line}`);
  cloud = await startCloud({ assembly, concurrency: 1, timeScale: 10, onLog });
  lambda = new LambdaClient({ ...clientConfig(cloud), maxAttempts: 1 });
  FunctionName = cloud.lambda.workers().find(({ functionName }) => functionName.includes('Work'))?.functionName ?? '';
});
afterAll(() => cloud?.stop());

describe('in an account with one concurrent execution, while a function runs', () => {
  let end: () => Promise<unknown>;
  beforeEach(async () => {
    const until = join(temporaryDir(), 'end');
    const before = worked();
    const busy = lambda.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify({ id: 'busy', until }) }));
    end = () => {
      writeFileSync(until, '');
      return busy;
    };
    await expect.poll(() => cloud.lambda.workers().some((worker) => worker.busy > 0)).toBe(true);
    await expect.poll(worked).toBe(before + 1);
    return () => end();
  });

  test('a client gets a TooManyRequestsException, and an answer after it has ended', async () => {
    const second = lambda.send(new InvokeCommand({ FunctionName, Payload: '{}' }));
    const Reason = 'ConcurrentInvocationLimitExceeded';
    await expect(second).rejects.toMatchObject({ name: 'TooManyRequestsException', Reason });
    await end();
    expect((await lambda.send(new InvokeCommand({ FunctionName, Payload: '{}' }))).StatusCode).toBe(200);
  });

  test('API Gateway answers 500, whole or streamed', async () => {
    const plain = await fetch(`${cloud.url}/plain`);
    expect([plain.status, await plain.json()]).toEqual([500, { message: 'Internal server error' }]);
    const streamed = await fetch(`${cloud.url}/start`, { method: 'POST', body: 'one' });
    expect([streamed.status, await streamed.json()]).toEqual([500, { message: 'Internal server error' }]);
  });
});
