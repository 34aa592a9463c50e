import { type DynamoDBDocumentClient, NumberValue, type PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { exactNumber, putBack } from '../../../functions/operator/put-back.ts';
import { documentClient } from '../../support/engine/client.ts';
import { createTable } from '../../support/engine/table.ts';
import { fromItem, toItem } from '../../support/engine/values.ts';
import { task } from './operators.ts';

type Item = Readonly<Record<string, unknown>>;

describe('a number of a restored item', () => {
  test.each([
    ['0', 0],
    ['-7', -7],
    ['0.1', 0.1],
    ['1800000000000', 1_800_000_000_000],
  ])('%s is read as it is', (text, expected) => {
    expect(exactNumber(text)).toBe(expected);
  });

  test.each(['1E+30', '9007199254740993', '100000000000000000000.5', '0.12345678901234567890123'])(
    '%s, which JavaScript cannot hold, is copied digit for digit',
    (text) => {
      const read = exactNumber(text);
      expect(read).toBeInstanceOf(NumberValue);
      expect(String(read)).toBe(text);
    },
  );
});

describe('items of a restored table', () => {
  const NOW = 1_800_000_000_000;
  const restored = (more: object = {}): Item => ({ ...task(), ...more });
  const ended = { status: 'completed', result: '1' };

  /** Copies them into a table that holds `there`, and says what it holds afterwards. */
  async function copied(items: readonly Item[], there: readonly Item[] = []) {
    const table = createTable(
      () => NOW,
      () => {},
    );
    for (const item of there) table.put({ Item: toItem(item) });
    const writes = documentClient(table, async (_what, carryOut) => carryOut(false));
    const scans: ScanCommand['input'][] = [];
    const db = {
      async send(command: ScanCommand | PutCommand) {
        if (!(command instanceof ScanCommand)) return writes.send(command);
        scans.push(command.input);
        const first = Number(command.input.ExclusiveStartKey?.at ?? 0);
        const next = first + Number(command.input.Limit);
        return { Items: items.slice(first, next), ...(next < items.length && { LastEvaluatedKey: { at: next } }) };
      },
    } as unknown as DynamoDBDocumentClient;
    const counts = await putBack(db, { restored: 'restored', current: 'current' }, NOW);
    return { counts, scans, items: [...table.items()].map(fromItem) };
  }
  const none = { read: 0, written: 0, kept: 0, expired: 0, left: 0 };

  test('of MCP Events stay away: an ended subscription would live again, a log would go back', async () => {
    const owners = ['events#o', 'events#log#o', 'events#new#o', 'events#new#second#o'];
    const { counts, items } = await copied(owners.map((owner) => ({ owner, taskId: '#head', last: 7 })));
    expect(counts).toEqual({ ...none, read: 4, left: 4 });
    expect(items).toEqual([]);
  });

  test('that are missing are written, from all pages', async () => {
    const many = Array.from({ length: 51 }, (_, n) => restored({ taskId: `t${n}`, expiresAt: NOW }));
    const { counts, scans, items } = await copied(many);
    expect(counts).toEqual({ ...none, read: 51, written: 51 });
    expect(items).toHaveLength(51);
    // Once for tasks, and before that for all other items.
    expect(scans).toMatchObject(Array(6).fill({ TableName: 'restored', Limit: 25, ConsistentRead: true }));
  });

  test('come before the tasks that need them: a task goes on as soon as it is there', async () => {
    const journals = Array.from({ length: 30 }, (_, n) => ({
      owner: 'progress#o',
      taskId: `t${n}#step#pay`,
      value: '1',
    }));
    const tasks = Array.from({ length: 30 }, (_, n) =>
      restored({ taskId: `t${n}`, status: 'waiting', expiresAt: NOW }),
    );
    const { items } = await copied([...tasks, ...journals]);
    expect(items.map(({ status }) => status ?? 'step')).toEqual([
      ...Array(30).fill('step'),
      ...Array(30).fill('waiting'),
    ]);
  });

  test('whose time to live is over are left out, those that end later, or never, are not', async () => {
    const { counts, items } = await copied([
      restored({ taskId: 'over', expiresAt: NOW / 1_000 }),
      restored({ taskId: 'later', expiresAt: NOW / 1_000 + 1 }),
      { owner: 'o', taskId: '#slots#0' },
    ]);
    expect(counts).toEqual({ ...none, read: 3, written: 2, expired: 1 });
    expect(items.map(({ taskId }) => taskId)).toEqual(['#slots#0', 'later']);
  });

  const { createdAt } = task();
  test.each([
    ['an ended task replaces the same one that works', ended, { status: 'working' }, true],
    ['an ended task replaces the same one that asks', ended, { status: 'input_required' }, true],
    ['an ended task leaves the same one that has ended', ended, { status: 'failed' }, false],
    ['an ended task leaves a later one under its key', ended, { status: 'working', createdAt: createdAt + 1 }, false],
    ['an open task leaves what is there', { status: 'working' }, { status: 'input_required' }, false],
    ['a task of another release leaves what is there', { ...ended, version: 99 }, { status: 'working' }, false],
  ])('%s', async (_rule, before, now, written) => {
    const there = restored({ ...now, expiresAt: NOW });
    const item = restored({ ...before, expiresAt: NOW });
    const { counts, items } = await copied([item], [there]);
    expect(counts).toEqual({ ...none, read: 1, [written ? 'written' : 'kept']: 1 });
    expect(items).toEqual([written ? item : there]);
  });
});
