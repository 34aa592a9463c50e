import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { handler as deployService } from '../../../functions/examples/deploy-service.ts';
import { handler as greet } from '../../../functions/examples/greet.ts';
import { handler as profileDataset } from '../../../functions/examples/profile-dataset.ts';

const all = [greet, profileDataset, deployService].map(({ definition }) => definition);
const compile = (schema: object) => new Ajv2020({ strict: true, allErrors: true, ownProperties: true }).compile(schema);

describe('registrations', () => {
  test.each(all)('$title: schemas are objects that compile strictly', ({ inputSchema, outputSchema }) => {
    for (const schema of [inputSchema, outputSchema]) {
      if (schema === undefined) continue;
      expect(schema.type).toBe('object');
      expect(compile(schema)).toBeTypeOf('function');
    }
  });

  test('no schema needs a keyword at its top that clients refuse in tools', () => {
    for (const { inputSchema } of all) {
      for (const keyword of ['oneOf', 'anyOf', 'allOf']) expect(inputSchema).not.toHaveProperty(keyword);
      expect(inputSchema.additionalProperties).toBe(false);
    }
  });
});

test.each([
  [greet, { name: 'Ada' }, true],
  [greet, { name: '' }, false],
  [greet, {}, false],
  [profileDataset, {}, true],
  [profileDataset, { csv: 'a\n1', columns: ['a'] }, true],
  [profileDataset, { csv: '' }, false],
  [profileDataset, { columns: [] }, false],
  [profileDataset, { columns: ['a', 'a'] }, false],
  [profileDataset, { rows: 1 }, false],
  [deployService, { service: 'checkout', region: 'eu-west-1', version: '2.4.0' }, true],
  [deployService, { service: 'Checkout', region: 'eu-west-1', version: '2.4.0' }, false],
  [deployService, { service: 'checkout', region: 'moon-1', version: '2.4.0' }, false],
  [deployService, { service: 'checkout', region: 'eu-west-1', version: '../2' }, false],
  [deployService, { service: 'checkout', region: 'eu-west-1', version: '2.4.0', replicas: 0 }, false],
] as const)('input of %o: %o is valid: %s', (tool, args, valid) => {
  expect(compile(tool.definition.inputSchema)(args)).toBe(valid);
});

test('support and hints say what the tools do', () => {
  expect(all.map(({ taskSupport }) => taskSupport)).toEqual(['forbidden', 'optional', 'required']);
  expect(profileDataset.definition.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
  expect(deployService.definition.annotations).toMatchObject({
    readOnlyHint: false,
    destructiveHint: true,
    // Its finished steps are remembered: a run that crashed may be taken up again.
    idempotentHint: true,
  });
});
