import { globSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { handler as approvePurchase } from '../../../functions/examples/approve-purchase.ts';
import { handler as crawlSite } from '../../../functions/examples/crawl-site.ts';
import { handler as greet } from '../../../functions/examples/greet.ts';
import { handler as nightlyReport } from '../../../functions/examples/nightly-report.ts';
import { handler as trainModel } from '../../../functions/examples/train-model.ts';

const tools = [greet, nightlyReport, approvePurchase, trainModel, crawlSite];
const all = tools.map(({ definition }) => definition);
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
  [nightlyReport, {}, true],
  [nightlyReport, { customers: ['a', 'a'] }, false],
  [nightlyReport, { customers: [] }, false],
  [approvePurchase, { item: 'a desk', euros: 420, approver: 'ann@example.com' }, true],
  [approvePurchase, { item: 'a desk' }, false],
  [approvePurchase, { item: 'a desk', euros: -1 }, false],
  [trainModel, { dataset: 'orders' }, true],
  [trainModel, { dataset: 'orders', accuracy: 93 }, false],
  [crawlSite, {}, true],
  [crawlSite, { most: 5_001 }, false],
  [crawlSite, { url: 'http://127.0.0.1:9001' }, false],
] as const)('input of %o: %o is valid: %s', (tool, args, valid) => {
  expect(compile(tool.definition.inputSchema)(args)).toBe(valid);
});

test('each has at most 80 lines, and all that wait run as tasks that may be taken up again', () => {
  for (const file of globSync('functions/examples/*.ts')) {
    expect(readFileSync(file, 'utf8').trimEnd().split('\n').length, file).toBeLessThanOrEqual(80);
  }
  expect(all.map(({ taskSupport }) => taskSupport)).toEqual(['forbidden', ...Array(4).fill('required')]);
  expect(all.map(({ annotations }) => annotations?.idempotentHint)).toEqual(Array(5).fill(true));
});
