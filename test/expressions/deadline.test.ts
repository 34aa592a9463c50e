import jsonata206 from 'jsonata';
import jsonata22 from 'jsonata-2.2';
import { describe, expect, test } from 'vitest';
import { include } from '../../lib/workflow/definition.ts';

// A state whose query gives undefined fails with States.QueryEvaluationError, so the tool is not called.
const NOW = 1_800_000_000_000;
const engines = { '2.0.6': jsonata206, '2.2': jsonata22 };
const files = ['function-event.jsonata', 'machine/event.jsonata', 'run-timeout.jsonata'];
const cases = Object.keys(engines).flatMap((version) => files.map((file) => [file, version] as const));

async function evaluate(file: string, version: string, deadlineAt: number): Promise<unknown> {
  const text = include(`<${file}>`).replaceAll('$millis()', String(NOW));
  const expression = engines[version as keyof typeof engines](text);
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const Input = { owner: 'o', taskId: 't', tool: 'x', round: 0, deadlineAt, arguments: '{}', accepts: [] };
  const states = { context: { Execution: { Input, Name: 't-r0' }, State: { Name: 'Run', RetryCount: 1 } } };
  return expression.evaluate(undefined, { states });
}

describe.each(cases)('%s in jsonata %s', (file, version) => {
  test('is undefined at and after the deadline, so that a late retry runs nothing (crash table)', async () => {
    expect(await evaluate(file, version, NOW)).toBeUndefined();
    expect(await evaluate(file, version, NOW - 1)).toBeUndefined();
  });

  test('is there before the deadline', async () => {
    expect(await evaluate(file, version, NOW + 1_500)).toBeDefined();
  });
});
