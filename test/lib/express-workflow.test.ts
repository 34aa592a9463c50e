import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { limits } from '../../functions/tasks/limits.ts';
import { definition, include } from '../../lib/workflow/definition.ts';

const now = Date.UTC(2026, 10, 22, 9, 30);
const started = new Date(now).toISOString();
const MINUTE = 60_000;

function evaluate(file: string, deadlineAt: number, startTime: string, at: number) {
  const text = include(`<${file}>`, 'express')
    .replaceAll('${ToolTimeoutSeconds}', '900')
    .replace(/\$\{\w+\}/g, 'x');
  const expression = jsonata(text);
  expression.registerFunction('millis', () => at);
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const Input = { deadlineAt, arguments: '{}', taskId: 't', owner: 'o', round: 1, tool: 'x' };
  const context = { Execution: { Input, StartTime: startTime }, State: { RetryCount: 0 } };
  return expression.evaluate(undefined, { states: { context } });
}

test.each([
  ['the deadline is later: 30 s before the end of the execution', now + 15 * MINUTE, started, limits.express.work],
  ['the deadline is sooner', now + MINUTE, started, MINUTE],
  ['the start time has another form', now + 15 * MINUTE, 'yesterday', 15 * MINUTE],
])('the work of a run ends, if %s', async (_, deadlineAt, startTime, after) => {
  expect(await evaluate('express-run-end.jsonata', deadlineAt, startTime, now)).toBe(now + after);
  expect(await evaluate('run-timeout.jsonata', deadlineAt, startTime, now)).toBe(after / 1_000);
  expect(await evaluate('function-event.jsonata', deadlineAt, startTime, now + after)).toBeUndefined();
});

test('each try of a run has a name, and the event is otherwise that of Standard', async () => {
  const tries = await Promise.all([0, 1].map(() => evaluate('function-event.jsonata', now + MINUTE, started, now)));
  const runs = tries.map(({ task }) => task.run);
  expect(runs).toEqual([expect.stringMatching(/^[0-9a-z]{1,8}$/), expect.stringMatching(/^[0-9a-z]{1,8}$/)]);
  expect(runs[0]).not.toBe(runs[1]);
  expect(tries[0].task).toMatchObject({ attempt: 0, envelope: 1, deadline: now + MINUTE });
});

test('the states are those of a repeatable tool on Standard, within five minutes', () => {
  const [express, standard] = [JSON.parse(definition(true, 'express')), JSON.parse(definition(true))];
  expect(express.TimeoutSeconds).toBe(300);
  expect(Object.keys(express.States)).toEqual(Object.keys(standard.States));
  expect(express.States.Finish).toEqual(standard.States.Finish);
  expect(express.States.Run.Retry).toEqual(standard.States.Run.Retry);
  expect(limits.express.function).toBeLessThan(limits.express.work);
  expect(limits.express.work).toBeLessThan(limits.express.longest);
});
