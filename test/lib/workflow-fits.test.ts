import { expect, test } from 'vitest';
import { limits } from '../../functions/tasks/limits.ts';
import { execution as input } from '../aws/row.ts';
import { evaluate } from './expression.ts';

const more = 'm'.repeat(limits.result.inline - 200);
test.each<[string, boolean, object, object]>([
  ['questions alone', true, {}, {}],
  ['answers before them that are small', true, { inputResponses: { a: { action: 'accept' } } }, {}],
  ['answers, in the record, that are large with them', false, { inputResponses: { a: more } }, {}],
  ['signals, in the record, that are large with them', false, { signals: { a: { body: more } } }, {}],
  ['arguments, in the record, that are large with them', false, { arguments: more }, {}],
  ['arguments that lie in S3', true, { arguments: `${more}${more}` }, {}],
  ['answers that lie in S3', true, { inputResponses: { a: `${more}${more}` } }, {}],
  ['arguments that the change adds, and are large', false, {}, { ':arguments': { S: `${more}${more}` } }],
])('what was sent before questions counts as far as the record holds it: %s', async (_what, fit, sent, added) => {
  const asked = { ':asked': { S: 'q'.repeat(300) } };
  const args = (added as { ':arguments'?: { S: string } })[':arguments']?.S ?? '{}';
  const Input = { ...input, arguments: args, inputResponses: {}, ...sent };
  const change = { input: { values: { ...asked, ...added } } };
  expect(await evaluate('store/fits.jsonata', change, { Input })).toBe(fit);
});
