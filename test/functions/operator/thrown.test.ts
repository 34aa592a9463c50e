import { expect, test } from 'vitest';
import type { States } from '../../../functions/operator/context.ts';
import type { RunFacts } from '../../../functions/operator/runs.ts';
import { thrownBy, thrownIn } from '../../../functions/operator/thrown.ts';
import { fakeClient } from '../../support/aws-client.ts';

const failed = (at: number, error: string, cause: string) => ({
  ...{ id: at, timestamp: new Date(at * 1_000), type: 'TaskFailed' },
  taskFailedEventDetails: { resourceType: 'lambda', error, cause },
});
const body = { errorType: 'E', errorMessage: 'no\nseats' };

test('each failed try has its time, its name, its message, and the lines of its stack', () => {
  const ofNode = ['    at run (node:internal/x:1:1)', '    at node:internal/y:2:1'];
  const trace = ['E: no', 'seats at 9', '    at book (book.ts:3:1)', ...ofNode];
  const stackTrace = ['  File "/var/task/book.py", line 3, in book\n    raise E\n'];
  const events = [
    { id: 1, timestamp: new Date(1_000), type: 'TaskScheduled', taskScheduledEventDetails: { resourceType: 'lambda' } },
    failed(2, 'E', JSON.stringify({ ...body, trace })),
    failed(3, 'E', JSON.stringify({ ...body, stackTrace })),
    failed(4, 'States.Timeout', 'It took too long'),
    failed(5, 'not a name', '{"other":1}'),
    failed(6, 'E', JSON.stringify(body)),
  ];
  expect(thrownBy(events, 2)).toEqual([
    { at: 2_000, round: 2, error: 'E', message: 'no\nseats', stack: ['    at book (book.ts:3:1)'] },
    { at: 3_000, round: 2, error: 'E', message: 'no\nseats', stack: [stackTrace[0]?.trimEnd()] },
    { at: 4_000, round: 2, error: 'States.Timeout', message: 'It took too long' },
    { at: 5_000, round: 2, error: 'Error', message: '{"other":1}' },
    { at: 6_000, round: 2, error: 'E', message: 'no\nseats' },
  ]);
});

test('the end of an execution counts only if no try threw the same', () => {
  const end = (cause: string) => ({ type: 'ExecutionFailed', executionFailedEventDetails: { error: 'E', cause } });
  expect(thrownBy([failed(1, 'E', 'no'), failed(2, 'E', 'no'), end('no')], 1)).toMatchObject([
    { at: 1_000, message: 'no' },
    { at: 2_000, message: 'no' },
  ]);
  expect(thrownBy([failed(1, 'E', 'no'), end('sold out')], 1).map(({ message }) => message)).toEqual([
    'no',
    'sold out',
  ]);
});

const run = (more: Partial<RunFacts>): RunFacts => ({
  ...{ round: 1, executionArn: 'arn:aws:states:x:1:execution:tool:t', status: 'FAILED', failures: [] },
  ...more,
});
const TRY = { from: 1, to: 2, error: 'E' };

test('of a long message 10,000 characters are shown, and of a stack 50 lines', () => {
  const long = 'x'.repeat(10_001);
  const trace = Array.from({ length: 51 }, (_, line) => `    at book (book.ts:${line}:1)`);
  const said = JSON.stringify({ ...body, errorMessage: long, trace });
  const [plain, ofLambda] = thrownBy([failed(1, 'E', long), failed(2, 'E', said)], 1);
  expect(plain?.message).toBe('x'.repeat(10_000));
  expect(ofLambda?.message).toBe('x'.repeat(10_000));
  expect(ofLambda?.stack).toEqual(trace.slice(0, 50));
});

test('only histories with a failure are read: of a state machine its own, if it may be read', async () => {
  const asked: unknown[] = [];
  const states = fakeClient<States>(async (_, given) => {
    const { executionArn } = given as { executionArn?: string };
    asked.push(executionArn);
    if (String(executionArn).includes(':own:')) throw Object.assign(new Error(), { name: 'AccessDeniedException' });
    return { events: [failed(1, 'E', 'no')] };
  });
  const machine = 'arn:aws:states:x:1:stateMachine:own';
  const at = { at: 1, error: 'E' };
  const visits = [{ name: 'S', from: 1, tries: [TRY] }];
  expect(await thrownIn('t', [run({})], undefined, { states })).toEqual([]);
  expect(asked).toEqual([]);
  expect(await thrownIn('t', [run({ failures: [at] })], undefined, { states })).toHaveLength(1);
  expect(await thrownIn('t', [run({ failures: [at], visits })], machine, { states })).toEqual([]);
  expect(asked).toEqual([expect.stringMatching(/:tool:t$/), expect.stringContaining(':execution:own:')]);
});

test('one failed try of one state of a machine is enough if it is known which one it is', async () => {
  const asked: unknown[] = [];
  const states = fakeClient<States>(async (_, given) => {
    asked.push((given as { executionArn?: string }).executionArn);
    return { events: [failed(1, 'E', 'no')] };
  });
  const machine = 'arn:aws:states:x:1:stateMachine:own';
  const good = { name: 'S', from: 1, tries: [{ from: 1, to: 2 }] };
  const mixed = { name: 'S', from: 1, tries: [{ from: 1, to: 2 }, TRY] };
  expect(await thrownIn('t', [run({ visits: [good] })], machine, { states })).toEqual([]);
  expect(await thrownIn('t', [run({ round: 2, visits: [good, mixed] })], machine, { states })).toHaveLength(1);
  expect(await thrownIn('t', [run({ visits: [mixed] })], undefined, { states })).toEqual([]);
  expect(asked).toEqual(['arn:aws:states:x:1:execution:own:t-r2']);
});

test('the latest 20 errors are shown, the oldest first, and a failed read is thrown', async () => {
  const events = Array.from({ length: 21 }, (_, n) => failed(n, 'E', `no ${n}`));
  const runs = [run({ failures: [{ at: 1, error: 'E' }] })];
  const found = await thrownIn('t', runs, undefined, {
    states: fakeClient<States>(async () => ({ events: events.toReversed() })),
  });
  expect(found.map(({ message }) => message)).toEqual(events.slice(1).map((_, n) => `no ${n + 1}`));
  const states = fakeClient<States>(() => Promise.reject(new TypeError('down')));
  await expect(thrownIn('t', runs, undefined, { states })).rejects.toThrow(new TypeError('down'));
});
