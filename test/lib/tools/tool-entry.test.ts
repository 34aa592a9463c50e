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
