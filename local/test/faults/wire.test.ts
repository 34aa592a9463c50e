import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { useFaultyCloud } from './bench.ts';

const { cloud, faults, put, item, write, start, secret, run } = useFaultyCloud();
const broken = expect.objectContaining({ code: 'ECONNRESET' });
const named = (name: string) => expect.objectContaining({ name });

describe('a lost call', () => {
  test('was not carried out when its request was lost', async () => {
    const lost = faults().add({ service: 'dynamodb', operation: 'PutItem', do: 'drop' });
    const mark = cloud().calls.mark();
    await expect(put('request')).rejects.toThrow(broken);
    expect(cloud().calls.since(mark)).toMatchObject([{ operation: 'PutItem', status: 0, error: 'ConnectionLost' }]);
    expect([lost.hits, await item('request')]).toEqual([1, undefined]);
  });

  test('was carried out when its answer was lost', async () => {
    const lost = faults().add({ service: 'dynamodb', operation: 'PutItem', at: 'after', do: 'drop' });
    const mark = cloud().calls.mark();
    await expect(put('answer')).rejects.toThrow(broken);
    expect(cloud().calls.since(mark)).toMatchObject([{ operation: 'PutItem', status: 200, consumed: { table: 1 } }]);
    expect([lost.hits, await item('answer')]).toEqual([1, { id: { S: 'answer' } }]);
  });

  test('is repeated by a client that may, whose first call may already have written', async () => {
    faults().add({ service: 'dynamodb', operation: 'PutItem', do: 'drop' });
    expect((await put('again', { attempts: 3 })).$metadata.attempts).toBe(2);
    faults().add({ service: 'dynamodb', operation: 'PutItem', at: 'after', do: 'drop' });
    const own = put('own', { attempts: 3, condition: 'attribute_not_exists(id)' });
    await expect(own).rejects.toThrow(named('ConditionalCheckFailedException'));
    expect(await item('own')).toBeDefined();
  });

  test.each(['before', 'after'] as const)('may be of any service: %s', async (at) => {
    const name = `lost-${at}`;
    for (const service of ['states', 'lambda', 'secretsmanager'] as const) {
      faults().add({ service, at, caller: 'test', do: 'drop' });
    }
    await expect(start(name, { id: name })).rejects.toThrow(broken);
    await expect(write({ id: `${name}-write` })).rejects.toThrow(broken);
    await expect(secret()).rejects.toThrow(broken);
    const started = cloud().stepFunctions.executions();
    expect(started.some((execution) => execution.name === name)).toBe(at === 'after');
    expect((await item(`${name}-write`)) !== undefined).toBe(at === 'after');
  });
});

describe('a refused call', () => {
  const REFUSED = [
    ['dynamodb', 'ProvisionedThroughputExceededException', 400, () => put('refused')],
    ['dynamodb', 'InternalServerError', 500, () => put('refused')],
    ['states', 'ThrottlingException', 400, () => start('refused', {})],
    ['lambda', 'TooManyRequestsException', 429, () => write({ id: 'refused' })],
    ['lambda', 'ServiceException', 500, () => write({ id: 'refused' })],
    ['secretsmanager', 'InternalServiceError', 500, secret],
  ] as const;
  test.each(REFUSED)('of %s gets %s, %i', async (service, error, status, call) => {
    faults().add({ service, caller: 'test', do: { error, status, message: 'not now' } });
    const mark = cloud().calls.mark();
    const refused = expect.objectContaining({
      name: error,
      $metadata: expect.objectContaining({ httpStatusCode: status }),
    });
    await expect(call()).rejects.toThrow(refused);
    const own = cloud()
      .calls.since(mark)
      .filter(({ caller }) => caller === 'test');
    expect(own).toMatchObject([{ service, status, error }]);
    expect(await item('refused')).toBeUndefined();
  });

  test('says why', async () => {
    faults().add({ service: 'lambda', do: { error: 'ServiceException', status: 500, message: 'not now' } });
    await expect(write({ id: 'why' })).rejects.toThrow('not now');
  });

  test('of S3 gets its XML', async () => {
    faults().add({ service: 's3', operation: 'GetObject', do: { error: 'SlowDown', status: 503 } });
    const headers = {
      authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request',
      'x-amz-content-sha256': createHash('sha256').digest('hex'),
    };
    const answer = await fetch(`${cloud().endpoint}/bucket/key`, { headers });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('<Code>SlowDown</Code>')]);
  });

  test('may have been carried out anyway', async () => {
    faults().add({ service: 'dynamodb', at: 'after', do: { error: 'InternalServerError', status: 500 } });
    await expect(put('half')).rejects.toThrow(named('InternalServerError'));
    expect(await item('half')).toBeDefined();
  });

  test('is throttled the given number of times', async () => {
    const throttled = faults().add({ service: 'dynamodb', do: { error: 'ThrottlingException' }, times: 2 });
    expect((await put('throttled', { attempts: 3 })).$metadata.attempts).toBe(3);
    expect(throttled.hits).toBe(2);
  });
});

test('a call waits', async () => {
  faults().add({ service: 'dynamodb', operation: 'PutItem', do: { delayMs: 120 } });
  const begin = performance.now();
  await put('slow');
  expect(performance.now() - begin).toBeGreaterThan(118);
});

test('something else happens before a call, and after it', async () => {
  const seen: unknown[] = [];
  for (const at of ['before', 'after'] as const) {
    const read = async () => seen.push([at, (await item('watched')) !== undefined]);
    faults().add({ service: 'dynamodb', operation: 'PutItem', at, do: { run: read } });
  }
  await put('watched');
  expect(seen).toEqual([
    ['before', false],
    ['after', true],
  ]);
});

test('several faults strike a call one after the other, until one ends it', async () => {
  const [wait, lost, never] = [{ delayMs: 1 }, 'drop', { delayMs: 1 }].map((fault) =>
    faults().add({ service: 'dynamodb', operation: 'PutItem', do: fault as 'drop' }),
  );
  await expect(put('several')).rejects.toThrow(broken);
  expect([wait?.hits, lost?.hits, never?.hits]).toEqual([1, 1, 0]);
});

describe('a fault strikes', () => {
  test('the calls that it names', async () => {
    const elsewhere = [
      faults().add({ service: 'states', do: 'drop' }),
      faults().add({ service: 'dynamodb', operation: 'UpdateItem', do: 'drop' }),
      faults().add({ service: 'dynamodb', operation: 'PutItem', caller: 'Writer', do: 'drop' }),
      faults().add({ service: 'dynamodb', when: ({ input }) => input.TableName === 'other', do: 'drop' }),
    ];
    const here = faults().add({
      service: 'dynamodb',
      operation: 'PutItem',
      caller: 'test',
      when: ({ input }) => JSON.stringify(input.Item).includes('meant'),
      do: 'drop',
      times: Number.POSITIVE_INFINITY,
    });
    await put('spared');
    await expect(put('meant')).rejects.toThrow(broken);
    await expect(put('meant')).rejects.toThrow(broken);
    expect([here.hits, ...elsewhere.map(({ hits }) => hits)]).toEqual([2, 0, 0, 0, 0]);
    expect(await here.struck).toMatchObject({
      service: 'dynamodb',
      operation: 'PutItem',
      caller: 'test',
      at: 'before',
    });
  });

  test('until it is removed', async () => {
    const lost = faults().add({ service: 'dynamodb', do: 'drop', times: 9 });
    await expect(put('removed')).rejects.toThrow(broken);
    lost.remove();
    await put('removed');
    expect(lost.hits).toBe(1);
  });

  test('a machine under the names its integrations give', async () => {
    const STRUCK = [
      [
        { service: 'dynamodb', error: 'ProvisionedThroughputExceededException' },
        'DynamoDB.ProvisionedThroughputExceededException',
      ],
      [{ service: 'dynamodb', error: 'InternalServerError', status: 500 }, 'DynamoDB.InternalServerError'],
      [{ service: 'dynamodb', error: 'ServiceUnavailable', status: 503 }, 'DynamoDB.AmazonDynamoDBException'],
      [{ service: 'lambda', error: 'TooManyRequestsException', status: 429 }, 'Lambda.TooManyRequestsException'],
      [{ service: 'lambda', error: 'ServiceException', status: 500 }, 'Lambda.ServiceException'],
    ] as const;
    for (const [{ service, ...fault }, error] of STRUCK) {
      const struck = faults().add({ service, caller: 'MachineRole', do: fault });
      expect(await run(error.replace('.', '-'))).toMatchObject({ status: 'FAILED', error });
      expect(struck.hits).toBe(1);
    }
  });

  test.each([
    ['lambda', 'before', 'Lambda.SdkClientException', [false, false]],
    ['lambda', 'after', 'Lambda.SdkClientException', [true, false]],
    ['dynamodb', 'before', 'DynamoDB.SdkClientException', [true, false]],
    ['dynamodb', 'after', 'DynamoDB.SdkClientException', [true, true]],
  ] as const)('a machine whose call of %s is lost, %s', async (service, at, error, [written, finished]) => {
    const name = `machine-${service}-${at}`;
    faults().add({ service, caller: 'MachineRole', at, do: 'drop' });
    expect(await run(name)).toMatchObject({ status: 'FAILED', error });
    const found = await item(name);
    expect([found !== undefined, found?.finished !== undefined]).toEqual([written, finished]);
  });
});

test.each([
  [{ service: 'dynamodb', at: 'midway', do: 'drop' }, 'nothing of dynamodb is midway'],
  [{ service: 'apigateway', at: 'midway', do: { error: 'x' } }, 'the status of the answer was already sent'],
  [{ service: 'dynamodb', do: 'double' }, 'only events are doubled'],
  [{ service: 'events', operation: 'PutEvents', do: 'double' }, 'only events are doubled'],
  [{ service: 'streams', do: 'double' }, 'only events are doubled'],
  [{ service: 'events', do: 'killWorker' }, 'no worker delivers events'],
  [{ service: 'streams', do: { killAfterMs: 1 } }, 'no worker delivers events'],
  [{ service: 'apigateway', do: { killAfterMs: 1 } }, 'no worker answers yet'],
  [{ service: 'lambda', do: { loseAfter: Promise.resolve() } }, 'only Express executions are lost'],
  [{ service: 'lambda', operation: 'Run', at: 'after', do: 'killWorker' }, 'Run is of lambda, and before'],
  [{ service: 'lambda', operation: 'Run', do: 'drop' }, 'no caller waits for a Run'],
] as const)('%j is refused', (spec, why) => expect(() => faults().add(spec)).toThrow(why));

test('a worker cannot die of the call of a machine, which has none', async () => {
  faults().add({ service: 'lambda', caller: 'MachineRole', do: 'killWorker' });
  expect(await run('no-worker')).toMatchObject({ status: 'FAILED', error: 'States.TaskFailed' });
});
