import { expect, test } from 'vitest';
import { callerText } from '../../../functions/authorizer/caller-text.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { Caller } from '../../../functions/tasks/tool-contract.ts';

function textOf(caller: Caller) {
  const left: string[] = [];
  const text = callerText(caller, (names) => void left.push(...names));
  return { text, left };
}

test('what is known of a caller is ASCII JSON; nothing known is no text', () => {
  const caller = { subject: 'Müller 😀', client: 'app', claims: { groups: ['a'], ['__proto__']: 1 } };
  const { text = '', left } = textOf(caller);
  expect(text).toMatch(/^[ -~]*$/);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(caller)));
  expect(left).toEqual([]);
  expect(textOf({})).toEqual({ text: undefined, left: [] });
});

test('a claim that does not fit is left out by its name, and the next one that fits stays', () => {
  const big = 'ü'.repeat(limits.caller / 6);
  const { text = '', left } = textOf({ subject: 'ann', claims: { big, small: true } });
  expect(JSON.parse(text)).toEqual({ subject: 'ann', claims: { small: true } });
  expect(left).toEqual(['big']);
  const frame = '{"claims":{"fit":""}}'.length;
  expect(textOf({ claims: { fit: 'x'.repeat(limits.caller - frame) } }).left).toEqual([]);
  expect(textOf({ claims: { fit: 'x'.repeat(limits.caller - frame + 1) } })).toEqual({
    text: undefined,
    left: ['fit'],
  });
});
