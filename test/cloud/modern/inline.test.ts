import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type Answer,
  FORMS,
  type ModernOptions,
  modernMessage,
  type OpenStream,
  openStream,
  post,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const executions = (since: number) => cloud().stepFunctions.executions().slice(since);
const count = () => executions(0).length;

/** A call of `steps` as a stream, with its progress. */
function steps(count: number, options: ModernOptions = { capabilities: FORMS }) {
  const { body, headers } = modernMessage('tools/call', { name: 'steps', arguments: { steps: count } }, options);
  const _meta = { ...body.params._meta, progressToken: 'p' };
  return openStream(url(), { ...body, params: { ...body.params, _meta } }, headers);
}

async function all(opening: Promise<OpenStream>): Promise<Answer['body'][]> {
  const messages: Answer['body'][] = [];
  for await (const { id, data } of (await opening).events) {
    expect(id).toBeUndefined();
    messages.push(data);
  }
  return messages;
}

test('a client that closes the stream of its call gets its result under its key (X-32)', async () => {
  const before = count();
  const headers = { 'idempotency-key': randomUUID() };
  const options = { capabilities: FORMS, headers };
  const stream = await steps(2, options);
  for await (const _first of stream.events) break;
  stream.close();
  const again = await all(steps(2, options));
  expect(again.at(-1).result.content[0].text).toBe('done');
  expect(executions(before)).toMatchObject([{ status: 'SUCCEEDED' }]);
});

test('hostile arguments come back unchanged through the whole workflow (A-17)', async () => {
  const raw = '{"__proto__":{"x":1},"constructor":{"prototype":null},"a.$":"$$","":["{% $x %}","\\u0000\\ud800"]}';
  const { body, headers } = modernMessage('tools/call', { name: 'echo', arguments: 'RAW' }, { capabilities: {} });
  const text = JSON.stringify(body).replace('"RAW"', () => raw);
  const { body: answer } = await post(url(), text, headers);
  expect(answer.result.content[0].text).toBe(JSON.stringify(JSON.parse(raw)));
});

test('a client that hangs up gets nothing more; the work it started goes on (D-28)', async () => {
  const before = count();
  const stream = await steps(2);
  for await (const { data } of stream.events) {
    expect(data).toMatchObject({ method: 'notifications/progress' });
    stream.close();
  }
  const status = () => executions(before).map((execution) => execution.status);
  for (let look = 0; look < 100 && status()[0] === 'RUNNING'; look++) await sleep(100);
  expect(status()).toEqual(['SUCCEEDED']);
});
