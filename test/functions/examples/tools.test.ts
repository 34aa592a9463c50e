import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { deployService } from '../../../functions/examples/deploy/definition.ts';
import { handler } from '../../../functions/examples/greet.ts';
import { profileDataset } from '../../../functions/examples/profile/definition.ts';
import { researchTopic } from '../../../functions/examples/research/definition.ts';

const greet = handler.definition;
const all = [greet, profileDataset, deployService, researchTopic];
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

  test('a CDK app that registers them loads no sample', () => {
    const sources = ['deploy', 'profile', 'research'].map((folder) =>
      readFileSync(new URL(`../../../functions/examples/${folder}/definition.ts`, import.meta.url), 'utf8'),
    );
    const imports = sources.flatMap((source) => [...source.matchAll(/from '(.*)'/g)].map(([, from]) => from));
    expect(new Set(imports)).toEqual(new Set(['mcp-task-server/tool', './table/schema.ts']));
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
  [researchTopic, { topic: 'ice' }, true],
  [researchTopic, { topic: 'ice', depth: 3 }, true],
  [researchTopic, { topic: 'ice', depth: 4 }, false],
  [researchTopic, { depth: 1 }, false],
] as const)('input of %o: %o is valid: %s', (tool, args, valid) => {
  expect(compile(tool.inputSchema)(args)).toBe(valid);
});

test('support and hints say what the tools do', () => {
  expect(all.map(({ taskSupport }) => taskSupport)).toEqual(['forbidden', 'optional', 'required', 'optional']);
  for (const tool of [profileDataset, researchTopic]) {
    expect(tool.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
  }
  expect(deployService.annotations).toMatchObject({
    readOnlyHint: false,
    destructiveHint: true,
    // Its finished steps are remembered: a run that crashed may be taken up again.
    idempotentHint: true,
  });
});
