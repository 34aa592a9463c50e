import { expect, test } from 'vitest';
import { printable } from '../../../bin/tasks/text.ts';

const DIRTY = 'a\u001b[2Jb\u009bc\u007fd\re\tf\ng é';

test('text is printed without control characters but newline and tab', () => {
  expect(printable(DIRTY, false)).toBe('a[2Jbcde\tf\ng é');
});

test('JSON is printed with control characters escaped, and says the same', () => {
  const text = printable(`${JSON.stringify({ DIRTY })}\n`, true);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(JSON.parse(text)).toEqual({ DIRTY });
});
