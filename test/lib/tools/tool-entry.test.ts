import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { toolEntry } from '../../../lib/tools/tool-entry.ts';

const handler = { functionArn: 'arn:f' } as IFunction;
const described = { handler, description: 'd', inputSchema: { type: 'object' } };

test('a misspelt option is refused by name, with the known options (A-18)', () => {
  const misspelt = { ...described, timout: 5 };
  expect(() => toolEntry('x', misspelt, [], 3_600_000)).toThrow(
    /^Tool 'x': it has no option 'timout', only handler, .*timeout, /,
  );
  expect(toolEntry('x', described, [], 3_600_000)).toMatchObject({ name: 'x' });
});

test('eventSummary needs a tool that may run as a task, and room for its name', () => {
  const summarized = { ...described, taskSupport: 'optional', eventSummary: true } as const;
  const entry = toolEntry('x', summarized, [], 3_600_000);
  expect(entry.eventSummary).toBe(true);
  expect(toolEntry('x', { ...summarized, eventSummary: false }, [], 3_600_000)).not.toHaveProperty('eventSummary');
  expect(() => toolEntry('x', { ...summarized, taskSupport: 'forbidden' }, [], 3_600_000)).toThrow(
    "Tool 'x': eventSummary needs a tool that may run as a task",
  );
  const taken = Array.from({ length: 50 }, (_, n) => ({ ...entry, name: `${n}`.padStart(49, 'x') }));
  expect(toolEntry('x', summarized, taken.slice(0, 49), 3_600_000)).toBeDefined();
  expect(() => toolEntry('x', summarized, taken, 3_600_000)).toThrow('take 2500 characters at most');
});
