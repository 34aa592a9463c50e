import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { deployService, greet, profileDataset } from '../../../functions/examples/tools.ts';

const compile = (schema: object) => new Ajv2020({ strict: true, allErrors: true, ownProperties: true }).compile(schema);

describe('registrations', () => {
  test.each([greet, profileDataset, deployService])('$title: schemas are objects that compile strictly', (tool) => {
    for (const schema of [tool.inputSchema, 'outputSchema' in tool ? tool.outputSchema : undefined]) {
      if (schema === undefined) continue;
      expect(schema.type).toBe('object');
      expect(compile(schema)).toBeTypeOf('function');
    }
  });

  test('no schema needs a keyword at its top that clients refuse in tools', () => {
    for (const { inputSchema } of [greet, profileDataset, deployService]) {
      for (const keyword of ['oneOf', 'anyOf', 'allOf']) expect(inputSchema).not.toHaveProperty(keyword);
      expect(inputSchema.additionalProperties).toBe(false);
    }
  });
});

test.each([
  [greet, { name: 'Ada' }, true],
  [greet, { name: '' }, false],
  [greet, {}, false],
  [profileDataset, { sample: 'orders' }, true],
  [profileDataset, { sample: 'secrets' }, false],
  [profileDataset, { csv: 'a\n1', delimiter: ';', columns: ['a'], bootstrap: 0 }, true],
  [profileDataset, { csv: 'a\n1', delimiter: '"' }, false],
  [profileDataset, { csv: 'a\n1', delimiter: '\n' }, false],
  [profileDataset, { csv: 'a\n1', bootstrap: 5_000 }, false],
  [profileDataset, { csv: 'a\n1', rows: 1 }, false],
  [deployService, { service: 'checkout', region: 'eu-west-1', version: '2.4.0' }, true],
  [deployService, { service: 'Checkout', region: 'eu-west-1', version: '2.4.0' }, false],
  [deployService, { service: 'checkout', region: 'moon-1', version: '2.4.0' }, false],
  [deployService, { service: 'checkout', region: 'eu-west-1', version: '../2' }, false],
  [deployService, { service: 'checkout', region: 'eu-west-1', version: '2.4.0', replicas: 0 }, false],
] as const)('input of %o: %o is valid: %s', (tool, args, valid) => {
  expect(compile(tool.inputSchema)(args)).toBe(valid);
});

test('support and hints say what the tools do', () => {
  expect([greet.taskSupport, profileDataset.taskSupport, deployService.taskSupport]).toEqual([
    'forbidden',
    'optional',
    'required',
  ]);
  expect(profileDataset.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
  expect(deployService.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  expect(deployService.annotations).not.toHaveProperty('idempotentHint');
});
