import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Integration, IntegrationCall } from '../../../step-functions/index.ts';
import { createStepFunctions, StatesError } from '../../../step-functions/index.ts';
import { temporaryDir } from '../../fixture.ts';
import { executionArn, machine, machineArn, RESOURCE } from '../support.ts';

const dir = temporaryDir();
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A machine with every source of differences between runs, several of each. */
const call = (fields: object = {}) => ({ Type: 'Task', Resource: RESOURCE, ...fields });
const retry = [{ ErrorEquals: ['E'], IntervalSeconds: 1, MaxAttempts: 2, JitterStrategy: 'FULL' }];
const branch = (name: string) => ({
  StartAt: `${name}1`,
  States: {
    [`${name}1`]: call({ Arguments: { in: name, id: '{% $uuid() %}' }, Retry: retry, Next: `${name}2` }),
    [`${name}2`]: { Type: 'Wait', Seconds: '{% $ceil($random() * 3) %}', Next: `${name}3` },
    [`${name}3`]: call({ Arguments: { in: name, at: '{% $millis() %}' }, Output: '{% $now() %}', End: true }),
  },
});
const eventful = machine({
  StartAt: 'Both',
  TimeoutSeconds: 9_999,
  States: {
    Both: {
      Type: 'Parallel',
      Branches: [branch('A'), branch('B')],
      Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 1 }],
      Catch: [{ ErrorEquals: ['States.ALL'], Output: '{% $states.errorOutput %}', Next: 'Each' }],
      Assign: { order: '{% $shuffle([1..5]) %}' },
      Next: 'Luck',
    },
    Luck: { Type: 'Choice', Choices: [{ Condition: '{% $random() < 0.5 %}', Next: 'Each' }], Default: 'Late' },
    Late: { Type: 'Wait', Seconds: 1, Next: 'Each' },
    Each: {
      Type: 'Map',
      Items: '{% $shuffle([1..6]) %}',
      MaxConcurrency: 3,
      ItemProcessor: {
        StartAt: 'Item',
        States: {
          Item: call({
            TimeoutSeconds: 5,
            Retry: retry,
            Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Lost' }],
            End: true,
          }),
          Lost: { Type: 'Pass', End: true },
        },
      },
      Output: '{% { "items": $states.result, "id": $uuid(), "at": $states.context.State.EnteredTime } %}',
      End: true,
    },
  },
});

interface Start {
  readonly journal: string;
  readonly task: Integration;
  readonly timeScale?: number;
}

function start({ journal, task, timeScale = 500 }: Start) {
  const engine = createStepFunctions([eventful], { integrations: { [RESOURCE]: task }, timeScale, journal });
  const ask = async (operation: string, request: object) =>
    (await engine.operations[operation]?.({ executionArn: executionArn('a'), ...request })) as Record<string, unknown>;
  return {
    engine,
    begin: () => ask('StartExecution', { stateMachineArn: machineArn(), name: 'a' }),
    closed: () => engine.closed(executionArn('a')),
    history: async () => (await ask('GetExecutionHistory', { maxResults: 1_000 })).events as unknown[],
    describe: () => ask('DescribeExecution', {}),
  };
}

/** Answers at once, soon or after some milliseconds, now and then with an error. */
const unsteady: Integration = async ({ arguments: args }) => {
  const luck = Math.random();
  if (luck < 0.6) await new Promise((resolve) => setTimeout(resolve, luck * 8));
  if (Math.random() < 0.25) throw new StatesError('E', 'bad luck');
  return { ...(args as object), luck };
};
const silent: Integration = () => new Promise(() => {});

const turns = async (count: number) => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

type Line = { readonly type: string; readonly ask: number };
const linesOf = (text: string) => text.trimEnd().split('\n');
const parsed = (lines: string[], type: string) =>
  lines.map((line) => JSON.parse(line) as Line).filter((line) => line.type === type);

/** Runs one execution to its end. Returns its journal and its history. */
async function recorded(task: Integration) {
  const journal = join(dir, randomUUID());
  const run = start({ journal, task });
  await run.begin();
  await run.closed();
  const [history, { output }] = [await run.history(), await run.describe()];
  await run.engine.stop();
  const lines = linesOf(readFileSync(journal, 'utf8'));
  expect(parsed(lines.slice(-1), 'ended')).toHaveLength(1);
  return { lines, history, output };
}

function journalOf(lines: string[]): string {
  const journal = join(dir, randomUUID());
  writeFileSync(journal, `${lines.join('\n')}\n`);
  return journal;
}

describe('an execution is a function of its journal', () => {
  it.each([1, 2, 3, 4, 5, 6])('cut after any record, replay ends in the same state (run %i)', async () => {
    const { lines, history, output } = await recorded(unsteady);
    const all = parsed(lines, 'answered').length;
    for (let count = 2; count < lines.length; count += 1) {
      const before = lines.slice(0, count);
      const answers = parsed(before, 'answered').length;
      // Nothing more comes: no task answers, and no wait will be over before this test is.
      const again = start({ journal: journalOf(before), task: silent, timeScale: 1e-6 });
      await turns(answers + 5);
      const isOver = answers === all;
      const events = (await again.history()).slice(0, isOver ? -1 : undefined);
      expect(events).toEqual(history.slice(0, events.length));
      expect(events.length).toBeGreaterThan(answers);
      if (isOver) expect(await again.describe()).toMatchObject({ status: 'SUCCEEDED', output });
      await again.engine.stop();
    }
  });

  it('it continues to its end; of the earlier calls only the open ones are repeated, as lost', async () => {
    const ids: string[] = [];
    const { lines } = await recorded(async (call) => {
      ids.push(call.id);
      return unsteady(call);
    });
    for (let count = 2; count < lines.length; count += 2) {
      const before = lines.slice(0, count);
      const answered = new Set(parsed(before, 'answered').map(({ ask }) => ask));
      const called = parsed(before, 'called').map(({ ask }, index) => ({ ask, id: ids[index] ?? '' }));
      const open = called.filter(({ ask }) => !answered.has(ask)).map(({ id }) => id);
      const calls: IntegrationCall[] = [];
      const again = start({
        journal: journalOf(before),
        task: async (call) => {
          calls.push(call);
          return {};
        },
      });
      await again.closed();
      expect(await again.describe()).toMatchObject({ status: 'SUCCEEDED' });
      for (const { id, lost } of calls) {
        expect(called.some((one) => one.id === id)).toBe(lost);
        if (lost) expect(open).toContain(id);
      }
      expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
      await again.engine.stop();
    }
  });

  it('it fails by name when the journal has another one', async () => {
    const { lines } = await recorded(unsteady);
    const strange = lines.slice(0, -1).map((line) => line.replace('"state":"Item"', '"state":"Other"'));
    const task = async () => ({});
    const again = start({ journal: journalOf(strange), task });
    await again.closed();
    const cause = "The execution cannot continue: its journal has an answer to 'Other', for which it does not wait.";
    expect(await again.describe()).toMatchObject({ status: 'FAILED', error: 'States.Runtime', cause });
  });
});
