import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StreamRecord } from '../../../dynamodb/stream/index.ts';
import { temporaryDir } from '../../fixture.ts';
import { keyOf, type Streamed, startStreamed, streamedStack, TableName } from './streamed.ts';

/** Keeps its events in a file, which outlives the killed process. */
const code = `import { appendFileSync } from 'node:fs';
export const handler = async ({ Records }) => {
  if (process.env.BROKEN) throw new Error('broken');
  appendFileSync(process.env.FILE, Records.map((record) => JSON.stringify(record) + '\\n').join(''));
};`;
const assembly = streamedStack({ mapping: { BatchSize: 10 }, code });

let dir = '';
let streamed: Streamed | undefined;
beforeEach(() => {
  dir = temporaryDir();
});
afterEach(async () => {
  await streamed?.cloud.stop();
  streamed = undefined;
  rmSync(dir, { recursive: true, force: true });
});
const file = () => join(dir, 'records');
const dataDir = () => join(dir, 'data');
const start = async (variables: Record<string, string> = {}, more: object = {}) => {
  streamed = await startStreamed(assembly, { dataDir: dataDir(), variables: { FILE: file(), ...variables }, ...more });
  return streamed;
};
const delivered = (): StreamRecord[] =>
  existsSync(file())
    ? readFileSync(file(), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

/** Runs a cloud in a process until it is killed. Returns the items as their writers saw them. */
async function killed(fault: object | undefined, afterMs = 60_000): Promise<object[]> {
  const script = join(import.meta.dirname, 'process.ts');
  const args = [script, assembly, dataDir(), file(), fault ? JSON.stringify(fault) : ''];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  const output = text(child.stdout);
  child.stdout.once('data', () => sleep(afterMs, undefined, { ref: false }).then(() => child.kill('SIGKILL')));
  expect(await exit).toBe('SIGKILL');
  return (await output).split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line)] : []));
}

/** Checks that every answered write has its record, and that an item's records lead to the item without a gap. */
async function check({ cloud, client }: Streamed, answered: readonly object[]): Promise<void> {
  await cloud.streams.drained();
  const records = [...new Map(delivered().map((record) => [record.eventID, record])).values()];
  const images = new Set(records.map(({ dynamodb: { NewImage } }) => JSON.stringify(sorted(NewImage))));
  expect(answered.filter((item) => !images.has(JSON.stringify(sorted(item))))).toEqual([]);
  const items = new Map<string, unknown>();
  for (const { dynamodb } of records) {
    const key = JSON.stringify(sorted(dynamodb.Keys));
    expect(dynamodb.OldImage).toEqual(items.get(key));
    items.set(key, dynamodb.NewImage);
  }
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  const byText = (list: Iterable<unknown>) => [...list].map((item) => JSON.stringify(sorted(item))).sort();
  expect(byText(items.values())).toEqual(byText(Items));
}
const sorted = (item: unknown) => Object.fromEntries(Object.entries(item ?? {}).sort());

const UPDATE = { service: 'dynamodb', operation: 'UpdateItem', do: 'killProcess' };
const DELIVER = { service: 'streams', operation: 'Deliver', do: 'killProcess' };
test.each([
  ['before a write', { ...UPDATE, at: 'before' }],
  ['between a write and its answer', { ...UPDATE, at: 'after' }],
  ['before a batch is delivered', { ...DELIVER, at: 'before' }],
  ['between a batch and its answer', { ...DELIVER, at: 'after' }],
])('a process killed %s loses no record, and adds none', async (_name, fault) => {
  const answered = await killed(fault);
  expect(answered.length).toBeGreaterThan(10);
  await check(await start(), answered);
});

test('a process killed at any time, many times, loses no record', async () => {
  const answered: object[] = [];
  for (const ms of [30, 90, 160]) answered.push(...(await killed(undefined, ms)));
  await check(await start(), answered);
});

test('records that a stopped cloud has not delivered come once after its next start', async () => {
  const first = await start({ BROKEN: 'yes' });
  for (const id of ['a', 'b']) await first.client.send(new PutItemCommand({ TableName, Item: keyOf(id) }));
  const made = first.cloud.streams.records(TableName);
  await first.cloud.stop();
  expect(delivered()).toEqual([]);

  const second = await start();
  await second.cloud.streams.drained();
  expect(delivered()).toEqual(made);
  await second.client.send(new PutItemCommand({ TableName, Item: keyOf('c') }));
  await second.cloud.streams.drained();
  await second.cloud.stop();
  const third = await start();
  await third.cloud.streams.drained();
  const numbers = delivered().map(({ dynamodb }) => dynamodb.SequenceNumber);
  expect(numbers).toHaveLength(3);
  expect(numbers).toEqual([...numbers].sort());
});

test('records for a mapping that the template no longer has are dropped', async () => {
  const first = await start({ BROKEN: 'yes' });
  await first.client.send(new PutItemCommand({ TableName, Item: keyOf('a') }));
  await first.cloud.stop();
  const without = await startStreamed(streamedStack({ code }), { dataDir: dataDir() });
  await without.cloud.streams.drained();
  await without.cloud.stop();
  const { cloud } = await start();
  await cloud.streams.drained();
  expect(delivered()).toEqual([]);
});
