import { expect, test } from 'vitest';
import { objectKey } from '../../../../../functions/tasks/results/result-store.ts';
import { create } from '../../../../../functions/tasks/transitions/begin.ts';
import { fail } from '../../../../../functions/tasks/transitions/end.ts';
import type { PlannedTask } from '../plan.ts';
import type { Strike } from '../storm.ts';
import { whose } from '../whose.ts';
import { type Around, type Failure, isExplained, isTooLateToWait } from './reasons.ts';

/** What the judge of the random faults takes for the cause of a failed task, and what not. */
const taskId = '0'.repeat(36);
const run = `${taskId}-r1`;
const NEW = { tool: 'echo', ttl: 3_600_000, timeout: 300_000, accepts: [], legacy: false };

function failure(message: string, reason: string | undefined, more: Partial<Failure> & { at?: number } = {}): Failure {
  const error = { code: -32603, message, ...(reason !== undefined && { data: { reason } }) };
  const { tool = 'echo', at = 1_000 } = { tool: more.task?.tool, ...more };
  const record = create({ owner: 'o', taskId }, { ...NEW, tool }, 0);
  const write = { by: 'somebody', at, status: 'failed', round: undefined } as const;
  return {
    ...{ record: { ...record, ...fail({ reason: 'ToolFailed', error }, at).set }, write },
    ...{ task: undefined, told: 'promise' },
    ...more,
  };
}

const around = (more: Partial<Around> = {}): Around => ({
  ...{
    strikes: [],
    runs: new Map(),
    invokes: new Map(),
    direct: new Map(),
    starts: new Map(),
    executions: new Map(),
  },
  ...{ moves: [], stopped: new Set<string>(), calmAt: 2_000, timeScale: 20 },
  ...more,
});

const strike = (more: Partial<Strike>): Strike => ({
  ...({ service: 'lambda', operation: 'Invoke', caller: 'ServerStandard', worker: undefined, taskId, run } as const),
  ...({ fault: 'drop', at: 500, told: '' } as const),
  ...more,
});
const started = new Map([[run, [{ at: 10, done: true, args: '{}' }]]]);
const begun = new Map([[run, [{ at: 100, worker: 'w1' }]]]);

test('a task that a client was promised could not be started only if time flew before its start', () => {
  const promised = failure('The task could not be started', undefined, { at: 70_000 });
  const struck = [strike({ service: 'states', operation: 'StartExecution', caller: 'ServerEndpoint' })];
  expect(isExplained(promised, around({ starts: started, strikes: struck }))).toBe(false);
  expect(isExplained(promised, around({ strikes: struck }))).toBe(false);
  expect(isExplained(promised, around({ moves: [{ at: 5, ms: 65_000 }] }))).toBe(true);
  expect(isExplained({ ...promised, told: 'nothing' }, around({ strikes: struck }))).toBe(true);
  expect(isExplained({ ...promised, told: 'nothing' }, around())).toBe(false);
});

test('a tool crashes when its own worker dies', () => {
  const crashed = failure('The tool failed', 'Runtime.ExitError');
  const death = {
    operation: 'Run',
    caller: 'Tools',
    fault: 'killWorker',
    taskId: 'another',
    run: 'another-r1',
  } as const;
  const with_ = (more: Partial<Strike>) => around({ runs: begun, invokes: begun, strikes: [strike(more)] });
  expect(isExplained(crashed, with_({ ...death, worker: 'w1' }))).toBe(true);
  expect(isExplained(crashed, with_({ ...death, worker: 'w2' }))).toBe(false);
  const task = { tool: 'charge_once', args: { crashes: 1 } } as unknown as PlannedTask;
  expect(isExplained({ ...crashed, task }, around())).toBe(true);
});

test('a run ends without a result when it was stopped', () => {
  const ended = failure('The run of the tool ended without a result', 'States.TaskFailed');
  const executions = new Map([[run, 'ABORTED']]);
  expect(isExplained(ended, around({ executions, stopped: new Set([run]) }))).toBe(true);
  expect(isExplained(ended, around({ executions }))).toBe(false);
  expect(isExplained(ended, around({ stopped: new Set([run]), executions: new Map([[run, 'SUCCEEDED']]) }))).toBe(
    false,
  );
});

test('a large result is lost only when every try to store it failed', () => {
  const lost = failure('The run of the tool ended without a result', 'Lambda.SdkClientException');
  const executions = new Map([[run, 'FAILED']]);
  const sent = { Payload: JSON.stringify({ outcome: { taskId, round: 1, text: '' } }) };
  const whom = whose({ service: 'lambda', operation: 'Invoke', input: sent });
  expect(whom).toEqual({ taskId, about: 'a large result' });
  const Key = objectKey({ owner: 'o', taskId, outcome: 'a'.repeat(64) });
  expect(whose({ service: 's3', operation: 'PutObject', input: { Key } })).toEqual(whom);
  const strikes = (count: number) => Array.from({ length: count }, () => strike({ run: undefined, ...whom }));
  expect(isExplained(lost, around({ executions, strikes: strikes(13) }))).toBe(true);
  expect(isExplained(lost, around({ executions, strikes: strikes(12) }))).toBe(false);
});

test('a tool runs out of time once its time has passed', () => {
  const slow = (at: number) => failure('The tool ran out of its time', 'States.Timeout', { at });
  expect(isExplained(slow(100 + 300_000 / 20), around({ starts: started, invokes: begun }))).toBe(true);
  expect(isExplained(slow(1_000), around({ starts: started, invokes: begun }))).toBe(false);
  const flown = (ms: number) => around({ starts: started, invokes: begun, moves: [{ at: 500, ms }] });
  expect(isExplained(slow(20_000), flown(15_000))).toBe(true);
  expect(isExplained(slow(15_000), flown(14_000))).toBe(false);
});

test('an invocation fails with the error that struck it, and what may be repeated with each try', () => {
  const lost = failure('The tool failed', 'Lambda.SdkClientException');
  expect(isExplained(lost, around({ strikes: [strike({})] }))).toBe(true);
  expect(isExplained(lost, around({ strikes: [strike({ taskId: 'another', run: 'another-r1' })] }))).toBe(false);
  expect(isExplained(failure('The tool failed', 'Lambda.ServiceException'), around({ strikes: [strike({})] }))).toBe(
    false,
  );
  const busy = failure('The tool is busy', 'Lambda.TooManyRequestsException');
  const throttled = strike({ fault: { error: 'TooManyRequestsException' } });
  expect(isExplained(busy, around({ strikes: Array.from({ length: 2_500 }, () => throttled) }))).toBe(false);
  expect(isExplained(busy, around({ strikes: Array.from({ length: 2_501 }, () => throttled) }))).toBe(true);
});

test('a result is not stored only if S3 failed all of some 13 tries', () => {
  const lost = failure("The tool's result could not be stored", 'ResultStoreError');
  const puts = (count: number) =>
    Array.from({ length: count }, () => strike({ operation: 'PutObject', fault: { error: 'SlowDown' } }));
  expect([12, 13].map((count) => isExplained(lost, around({ strikes: puts(count) })))).toEqual([false, true]);
});

test('a deadline passes only when it has passed and a fault blocked the task', () => {
  const late = failure('The tool did not finish in time', 'DeadlineExceeded', { at: 400_000 });
  expect(isExplained(late, around({ calmAt: 350_000 }))).toBe(true);
  expect(isExplained({ ...late, write: { ...late.write, at: 1_000 } }, around({ calmAt: 350_000 }))).toBe(false);
  const executions = new Map([[run, 'FAILED']]);
  expect(isExplained(late, around({ executions }))).toBe(false);
  expect(
    isExplained(late, around({ executions, strikes: [strike({ service: 'events', operation: 'Deliver' })] })),
  ).toBe(true);
});

test('a tool refuses a wait only if a fault made its first run too late for it', () => {
  const refused = (wait: string, deadlineAt = 300_000) =>
    `${wait} ends after the deadline of its task, ${new Date(deadlineAt).toISOString()}: give the tool a longer timeout`;
  const record = create({ owner: 'o', taskId }, { ...NEW, tool: 'charge_and_wait' }, 0);
  const task = { tool: 'charge_and_wait', args: { nap: 20, seconds: 50 } } as unknown as PlannedTask;
  const write = (at: number) => ({ by: 'somebody', at, status: 'completed', round: undefined }) as const;
  const late = { record, task, write: write(251_000), text: refused("Link 'approval'"), given: false };
  const struck = around({ strikes: [strike({ service: 'states', operation: 'RunExpress' })] });
  expect(isTooLateToWait(late, struck)).toBe(true);
  expect(isTooLateToWait({ ...late, text: refused("Webhook 'paid'") }, struck)).toBe(true);
  expect(isTooLateToWait({ ...late, write: write(249_000) }, struck)).toBe(false);
  expect(isTooLateToWait({ ...late, given: true }, struck)).toBe(false);
  expect(isTooLateToWait({ ...late, text: refused("Link 'approval'", 299_000) }, struck)).toBe(false);
  expect(isTooLateToWait({ ...late, text: refused("Link 'another'") }, struck)).toBe(false);
  expect(isTooLateToWait({ ...late, text: '{"charged":true}' }, struck)).toBe(false);
  expect(isTooLateToWait(late, around())).toBe(false);
  const nap = { ...late, text: refused("Sleep 'nap'"), given: true };
  expect(isTooLateToWait({ ...nap, write: write(281_000) }, struck)).toBe(true);
  expect(isTooLateToWait(nap, struck)).toBe(false);
  expect(isTooLateToWait({ ...nap, write: write(281_000), given: false }, struck)).toBe(false);
  const polling = { ...task, args: { ...task.args, polls: 1 } };
  const polls = { ...nap, task: polling, text: refused("Wait 'nap'"), write: write(261_000) };
  expect(isTooLateToWait(polls, struck)).toBe(true);
  expect(isTooLateToWait({ ...polls, write: write(259_000) }, struck)).toBe(false);
});

const NAME = '3f1c9a52-7d0e-4b6a-9c11-0a5e8d2f4b10';
test.each([
  ['a first try', {}],
  ['a retry', { attempt: 2 }],
  ['a try on Express', { run: NAME }],
  ['a retry on Express', { attempt: 2, run: NAME }],
])('a call about the stored result of %s belongs to its run', (_, tried) => {
  const input = { Key: objectKey({ owner: 'o', taskId, round: 1, ...tried }) };
  expect(whose({ service: 's3', operation: 'PutObject', input })).toEqual({ taskId, run });
});
