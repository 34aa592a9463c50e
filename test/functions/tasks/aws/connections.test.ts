import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { signedRequests } from '../../../../functions/tasks/aws/signed-request.ts';

const held: ServerResponse[] = [];
const server = createServer((request, response) => {
  request.resume();
  held.push(response);
});
const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const answerAll = () => {
  for (const response of held.splice(0)) response.end('{}');
};
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void held.splice(0));

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };

const senders: Record<string, () => () => Promise<unknown>> = {
  DynamoDB: () => {
    const given = async () => credentials;
    const options = {
      region: 'eu-west-1',
      endpoint: origin(),
      credentials: given,
      attempts: 1,
      requestTimeout: 30_000,
    };
    const db = dynamoDb(options, {});
    return () => db.get({ TableName: 'T', Key: { owner: 'o' } });
  },
  'another service': () => {
    const request = signedRequests('lambda', new URL(origin()), 'eu-west-1', 30_000);
    return () => request({ method: 'POST', path: '/' }, AbortSignal.timeout(30_000));
  },
};

/** Holds the thread as soon as the call begins to connect. Timers are then due before the socket says that it has. */
async function whileBusy<T>(ms: number, call: () => Promise<T>): Promise<T> {
  const hold = () =>
    process.nextTick(() => {
      for (const until = performance.now() + ms; performance.now() < until; );
    });
  subscribe('net.client.socket', hold);
  // Like an event of Lambda, the call begins in the phase of the event loop that comes right before the timers.
  const { port1, port2 } = new MessageChannel();
  try {
    return await new Promise((resolve, reject) => {
      port1.on('message', () => call().then(resolve, reject));
      port2.postMessage('begin');
    });
  } finally {
    port1.close();
    unsubscribe('net.client.socket', hold);
  }
}

describe.each(Object.entries(senders))('calls to AWS: %s', (_, sender) => {
  test('120 at once that are answered late: all are under way, none waits for a socket', async () => {
    const send = sender();
    const all = Promise.all(Array.from({ length: 120 }, send));
    all.catch(() => undefined);
    await expect.poll(() => held).toHaveLength(120);
    answerAll();
    await all;
  });

  test('a worker that is busy beyond the timeout does not take a new connection for dead', async () => {
    const send = sender();
    const sent = whileBusy(1_500, send);
    sent.catch(() => undefined);
    await expect.poll(() => held).toHaveLength(1);
    answerAll();
    await sent;
  });
});
