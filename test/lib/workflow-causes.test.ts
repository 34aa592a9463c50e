import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../functions/tasks/engines.ts';
import { definition } from '../../lib/workflow/definition.ts';

const PLANTED = 'planted-in-the-cause';
const input = { owner: 'o', taskId: 't', tool: 'x', round: 1, deadlineAt: Date.now() + 100_000, arguments: '{}' };
/** Causes as Lambda, Step Functions and an author may write them. */
const CAUSES = [
  PLANTED,
  JSON.stringify({ errorType: PLANTED, errorMessage: PLANTED, trace: [PLANTED] }),
  JSON.stringify({ Cause: PLANTED, Input: `{"a":"${PLANTED}"}`, Output: PLANTED }),
];
const ERRORS = ['States.TaskFailed', 'States.QueryEvaluationError', 'Lambda.Unknown', 'TypeError'];

interface Found {
  readonly path: string;
  readonly expression: string;
}

const filled = (engine: Engine) => definition(engine).replaceAll('${RepeatableTools}', "['x']");

/** All expressions of a definition. */
function expressions(value: unknown, path = ''): Found[] {
  if (typeof value === 'string') {
    return value.startsWith('{%') ? [{ path, expression: value.slice(2, -2) }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => expressions(inner, `${path}.${key}`));
}

describe.each([
  ['a function', filled('standard')],
  ['a function on Express', filled('express')],
  ['a state machine', filled('machine')],
])('the cause of an error is never written, shown or passed on: %s (A-15)', (_, text) => {
  const caught = expressions(JSON.parse(text)).filter(({ expression }) => expression.includes('errorOutput'));

  test.each(caught.map(({ path, expression }) => [path, expression]))('%s', async (_path, expression) => {
    const compiled = jsonata(expression);
    compiled.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
    for (const error of ERRORS) {
      for (const cause of CAUSES) {
        const states = { context: { Execution: { Input: input }, State: { RetryCount: 0 } } };
        const write: unknown = await compiled.evaluate(undefined, {
          states: { ...states, input, errorOutput: { Error: error, Cause: cause } },
        });
        expect(JSON.stringify(write)).toMatch(/"S":"failed"|^\{("(tries|crashes|losses|wait)":\d,?)+\}$/);
        expect(JSON.stringify(write)).not.toContain(PLANTED);
      }
    }
  });

  test('a text that is not a name is not written: it may have any length', async () => {
    const end = caught.find(({ expression }) => expression.includes('"failed"'));
    const compiled = jsonata(end?.expression ?? '');
    compiled.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
    for (const name of [`${PLANTED} `, `${PLANTED}"`, 'x'.repeat(129)]) {
      const states = { context: { Execution: { Input: input }, State: { RetryCount: 0 } }, input };
      const errorOutput = { Error: name, Cause: CAUSES[1] };
      const write: unknown = await compiled.evaluate(undefined, { states: { ...states, errorOutput } });
      expect(JSON.stringify(write)).not.toContain(name);
      expect(JSON.stringify(write)).toContain('\\"reason\\":\\"Error\\"');
    }
  });

  test('errors are caught, so the check has an input', () => {
    expect(caught.length).toBeGreaterThan(0);
  });
});
