import { expect, test } from 'vitest';
import { checkParamHeaders } from '../../../../functions/mcp/http/param-headers.ts';
import type { ParamHeader } from '../../../../functions/mcp/manifest.ts';

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

test.each<[ParamHeader['type'], unknown, string | undefined, string | undefined]>([
  ['string', 'eu', 'eu', undefined],
  ['string', 'é', base64('é'), undefined],
  ['string', 'é', '=?base64?é?=', 'does not match its argument'],
  ['string', 'eu', 'us', 'does not match its argument'],
  ['string', 'eu', undefined, 'is missing'],
  ['string', undefined, 'eu', 'is there, but its argument is not'],
  ['string', null, 'eu', 'is there, but its argument is not'],
  ['string', undefined, undefined, undefined],
  ['string', '1', '1.0', 'does not match its argument'],
  ['integer', 1, '+1.0', undefined],
  ['integer', -5, '-5', undefined],
  ['integer', 12, '12.00', undefined],
  ['integer', '1', '1', undefined],
  ['string', 1, '+1', 'does not match its argument'],
  ['integer', 1, '1e0', 'does not match its argument'],
  ['integer', 1, 'x1', 'does not match its argument'],
  ['integer', 1, '1.05', 'does not match its argument'],
  ['integer', 1, '2', 'does not match its argument'],
  ['boolean', true, 'true', undefined],
  ['boolean', true, '1', 'does not match its argument'],
])('an argument of type %s that is %j goes with the header %j: %s (D-07)', (type, value, sent, problem) => {
  const marks: ParamHeader[] = [{ header: 'Region', path: ['where', 'region'], type }];
  const request = { method: 'POST', body: '', headers: sent === undefined ? {} : { 'mcp-param-region': sent } };
  const check = () => checkParamHeaders(marks, { where: { region: value } }, request);
  if (problem === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(`Mcp-Param-Region ${problem}`);
});

test('each marked argument is checked, also where one on the way is no object', () => {
  const marks: ParamHeader[] = [
    { header: 'A', path: ['a', 'b'], type: 'string' },
    { header: 'B', path: ['b'], type: 'string' },
  ];
  const request = { method: 'POST', body: '', headers: {} };
  expect(() => checkParamHeaders(marks, { a: 'text', b: 'x' }, request)).toThrow('Mcp-Param-B is missing');
});
