import { randomUUID } from 'node:crypto';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { ENGINES } from '../../functions/tasks/engines.ts';
import { definition, include } from '../../lib/workflow/definition.ts';

const now = Date.UTC(2026, 10, 22, 9, 30);
const started = new Date(now).toISOString();
const MINUTE = 60_000;

interface Failure {
  readonly Error: string;
  readonly tries: number;
  /** When the state was entered. */
  readonly entered: unknown;
}

function evaluate(file: string, deadlineAt: number, startTime: string, at: number, failure?: Failure) {
  const text = include(`<${file}>`, 'express').replace(/\$\{\w+\}/g, 'x');
  const expression = jsonata(text);
  expression.registerFunction('millis', () => at);
  expression.registerFunction('uuid', randomUUID);
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const Input = { deadlineAt, arguments: '{}', taskId: 't', owner: 'o', round: 1, tool: 'x' };
  const context = {
    Execution: { Input, StartTime: startTime },
    State: { RetryCount: failure?.tries ?? 0, EnteredTime: failure?.entered },
  };
  const errorOutput = failure && { Error: failure.Error };
  return expression.evaluate(undefined, { states: { context, ...(errorOutput && { errorOutput }) } });
}

test.each([
  ['the deadline is later: 30 s before the end of the execution', now + 15 * MINUTE, started, ENGINES.express.work],
  ['the deadline is sooner', now + MINUTE, started, MINUTE],
  ['the start time has another form', now + 15 * MINUTE, 'yesterday', 15 * MINUTE],
])('the work of a run ends, if %s', async (_, deadlineAt, startTime, after) => {
  expect(await evaluate('express/run-end.jsonata', deadlineAt, startTime, now)).toBe(now + after);
  expect(await evaluate('run-timeout.jsonata', deadlineAt, startTime, now)).toBe(after / 1_000);
  expect(await evaluate('function-event.jsonata', deadlineAt, startTime, now + after)).toBeUndefined();
});

test('each try of a run has a name, and the event is otherwise the same as on Standard', async () => {
  const tries = await Promise.all([0, 1].map(() => evaluate('function-event.jsonata', now + MINUTE, started, now)));
  const runs = tries.map(({ task }) => task.run);
  expect(runs).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(runs[0]).not.toBe(runs[1]);
  expect(tries[0].task).toMatchObject({ attempt: 0, envelope: 1, deadline: now + MINUTE });
});

test('a tool sees the end of its run as its deadline: a function that begins late stops by then', async () => {
  const { task } = await evaluate('function-event.jsonata', now + 15 * MINUTE, started, now + MINUTE);
  expect(task.deadline).toBe(now + ENGINES.express.work);
});

const LATE = now + ENGINES.express.work;
const iso = (ms: number) => new Date(now + ms).toISOString();
/** AWS restarts a run from its beginning, and no page says whether with its first StartTime. */
const RESTARTED = iso(100_000);
const NO_EVENT = 'States.QueryEvaluationError';
const TIMEOUT = 'States.Timeout';
test.each([
  ['its run began late and has no time left', NO_EVENT, 1, started, 15 * MINUTE, LATE, true],
  ['its run was restarted after its end', NO_EVENT, 0, iso(280_000), 15 * MINUTE, LATE + 10_000, true],
  ['its only try began at the end of the run', NO_EVENT, 0, started, 15 * MINUTE, LATE, true],
  ['the end is the deadline, and no try began', NO_EVENT, 0, started, ENGINES.express.work - 1, LATE, false],
  ['its last try was cut at the end of the run', TIMEOUT, 3, started, 15 * MINUTE, LATE - 900, true],
  ['its run was restarted, and cut at its end', TIMEOUT, 0, RESTARTED, 15 * MINUTE, LATE - 900, true],
  ['the same, in whole seconds', TIMEOUT, 0, RESTARTED.replace('.000', ''), 15 * MINUTE, LATE - 900, true],
  ['its tool took too long in a restarted run', TIMEOUT, 0, RESTARTED, 15 * MINUTE, LATE - 2_000, false],
  ['the end is the deadline, in a restarted run', TIMEOUT, 0, RESTARTED, ENGINES.express.work - 1, LATE, false],
  ['its first try has used up the run', TIMEOUT, 0, started, 15 * MINUTE, LATE, false],
  ['the same, entered five seconds after the start', TIMEOUT, 0, iso(5_000), 15 * MINUTE, LATE, false],
  ['the same, entered at a time in another form', TIMEOUT, 0, 'today', 15 * MINUTE, LATE, false],
  ['the same, entered at no time', TIMEOUT, 0, undefined, 15 * MINUTE, LATE, false],
  ['the end is the deadline', TIMEOUT, 3, started, ENGINES.express.work - 1, LATE, false],
  ['its expression fails while there is time', NO_EVENT, 3, started, 15 * MINUTE, LATE - 1, false],
  ['its tool failed at the end of the run', 'TypeError', 3, started, 15 * MINUTE, LATE, false],
])('a run that failed as %s', async (_, error, tries, entered, timeout, at, cut) => {
  const failure = { Error: error, tries, entered };
  const change = await evaluate('express/run-cut.jsonata', now + timeout, started, at, failure);
  if (cut) expect(change).toEqual({ cut: true });
  else expect(change.values[':status']).toEqual({ S: 'failed' });
});

test('within five minutes, the states of a tool on Standard', () => {
  const [express, standard] = [JSON.parse(definition('express')), JSON.parse(definition('standard'))];
  expect(express.TimeoutSeconds).toBe(300);
  const { Run, ...others } = express.States;
  const { Run: standardRun, ...standardOthers } = standard.States;
  expect(others).toEqual(standardOthers);
  const names = (run: typeof Run) => run.Catch.map(({ ErrorEquals }: { ErrorEquals: string[] }) => ErrorEquals);
  expect(names(Run)).toEqual(names(standardRun));
  const nexts = (run: typeof Run) => run.Catch.map(({ Next }: { Next: string }) => Next);
  expect([nexts(Run), nexts(standardRun)]).toEqual([
    ['RunFailed', 'RunFailed'],
    ['RunFailed', 'Finish'],
  ]);
  expect(ENGINES.express.function).toBeLessThan(ENGINES.express.work);
  expect(ENGINES.express.work).toBeLessThan(ENGINES.express.longestRun);
});
