import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import type { OperatorContext } from '../../../functions/operator/context.ts';
import { payloadOf, waitsShown } from '../../../functions/operator/payload.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { measured } from '../../../functions/tasks/results/result-ref.ts';
import { type Entry, journalStore } from '../../../functions/tasks/table/journal-items.ts';
import { signalUrl } from '../../../functions/tasks/waits/signal-url.ts';
import { TABLE } from '../../support/engine/memory.ts';
import { asking, denied, KEY, operatorOn, T0, task } from './operators.ts';

const url = 'https://mcp.example.com';
const until = T0 + 60_000;
const QUESTION = { method: 'elicitation/create', params: { message: 'Buy?', requestedSchema: { type: 'object' } } };
const LINK = JSON.stringify({ kind: 'link', until, question: QUESTION });
const schema = { type: 'object' };

/** A task that waits for these, and what its tool has stored of them. */
async function waiting(kinds: Readonly<Record<string, string>>, stored: readonly Partial<Entry>[], more = {}) {
  const waits = JSON.stringify(
    Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, { kind, until }])),
  );
  const record = task({ status: 'waiting', hookKey: 'k', waits, arguments: '{}', ...more });
  const operator = operatorOn([record]);
  const journal = journalStore(operator.dynamoDb, TABLE);
  for (const { name = 'a', ...entry } of stored)
    await journal.writeEntry({ ...KEY, round: 1, deadline: Date.now() }, { kind: 'wait', name, ...entry });
  const context: OperatorContext = { ...operator.context, server: { ...operator.context.server, url } };
  return { ...operator, record, context };
}

describe('what an operator sees of waits', () => {
  test('what links and webhooks ask, and their URLs, as long as they have no signal', async () => {
    const webhook = JSON.stringify({ kind: 'webhook', until, schema });
    const stored = [
      { name: 'a', value: LINK },
      { name: 'b', value: webhook },
      { name: 'c', value: LINK },
    ];
    const kinds = { a: 'link', b: 'webhook', c: 'link', night: 'time' };
    const { record, context } = await waiting(kinds, stored, { signalled: ['c'] });
    const place = { key: 'k', url: `${url}/signals` };
    expect(await payloadOf(record, context)).toEqual({
      arguments: {},
      questions: { a: QUESTION, b: { method: 'webhook', params: { schema } } },
      links: { a: signalUrl(place, 'a'), b: signalUrl(place, 'b') },
    });
    expect(waitsShown(record)).toEqual([
      { name: 'a', kind: 'link', until },
      { name: 'b', kind: 'webhook', until },
      { name: 'c', kind: 'link', until, signalled: true },
      { name: 'night', kind: 'time', until },
    ]);
  });

  test('beside questions of the client, too, and without any signal so far', () => {
    const waits = `{"a":{"kind":"link","until":${until}},"more":{"kind":"more"}}`;
    expect(waitsShown(asking(['q'], { waits }))).toStrictEqual([
      { name: 'a', kind: 'link', until },
      { name: 'more', kind: 'more' },
    ]);
    expect(waitsShown(asking(['q']))).toBeUndefined();
  });

  test('no URLs where the server does not know its own, or the task has no key for them', async () => {
    const { record, context } = await waiting({ a: 'link' }, []);
    const { url: _, ...server } = context.server;
    expect(await payloadOf(record, { ...context, server })).toEqual({ arguments: {} });
    const { hookKey: _key, ...without } = record;
    expect(await payloadOf(without, context)).toEqual({ arguments: {} });
  });

  test('a question that lies in S3, if it is the one that was stored there', async () => {
    const { sha256, bytes } = measured(LINK);
    const questions = async (entry: Partial<Entry>) => {
      const { record, context, objects } = await waiting({ a: 'link' }, [{ name: 'a', ...entry }]);
      await objects.put({ ...KEY, entryValue: String(entry.sha256) }, LINK);
      return (await payloadOf(record, context)).questions;
    };
    expect(await questions({ sha256, bytes })).toEqual({ a: QUESTION });
    expect(await questions({ sha256, bytes: bytes + 1 })).toBeUndefined();
    expect(await questions({ sha256: 'f'.repeat(64), bytes })).toBeUndefined();
    expect(await questions({ sha256 })).toBeUndefined();
  });

  test('no question of a wait that its tool stored in another form', async () => {
    const stored = [
      { name: 'a', value: 'not JSON' },
      { name: 'b', value: JSON.stringify({ kind: 'time', until }) },
    ];
    const { record, context } = await waiting({ a: 'link', b: 'webhook', lost: 'link' }, stored);
    expect(await payloadOf(record, context)).not.toHaveProperty('questions');
  });
});

describe('a result that lies in S3', () => {
  const text = JSON.stringify('x'.repeat(limits.result.inline));
  const resultOf = async (stored: string) => {
    const { sha256, bytes } = measured(text);
    const record = task({ status: 'completed', result: JSON.stringify({ resultRef: { bytes, attempt: 2, sha256 } }) });
    const { context, objects } = operatorOn([record]);
    await objects.put({ ...KEY, round: 1, attempt: 2 }, stored);
    return payloadOf(record, context);
  };

  test('is shown as the tool returned it', async () => {
    expect(await resultOf(text)).toEqual({ result: JSON.parse(text) });
  });

  test('is not shown if it was changed there', async () => {
    expect(await resultOf(text.replace('x', 'y'))).not.toHaveProperty('result');
  });
});

describe('the input of the first run', () => {
  const read = (record: TaskRecord, error: Error) => {
    const send = (command: unknown) =>
      command instanceof DescribeExecutionCommand && command.input.includedData === undefined
        ? Promise.reject(error)
        : Promise.resolve({});
    return payloadOf(record, operatorOn([record], {}, { states: { send } as never }).context);
  };

  test('is not read without the right to payloads, which is named', async () => {
    await expect(read(task(), denied())).rejects.toThrow(
      `The payload of task ${KEY.taskId}: your credentials may not read it. The payload policy of the server allows it`,
    );
  });

  test('may be gone, and any other failure is thrown', async () => {
    expect(await read(task(), Object.assign(new Error(), { name: 'ExecutionDoesNotExist' }))).toEqual({});
    await expect(read(task(), new TypeError('down'))).rejects.toThrow(new TypeError('down'));
  });
});
