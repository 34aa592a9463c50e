import { expect, test } from 'vitest';
import { explanationText } from '../../../bin/tasks/print-explanation.ts';
import { listText } from '../../../bin/tasks/print-list.ts';
import { logsText } from '../../../bin/tasks/print-logs.ts';
import { storyText } from '../../../bin/tasks/print-story.ts';
import { auditTo } from '../../../bin/tasks/terminal.ts';
import { oneLine, printable, printableJson, table } from '../../../bin/tasks/text.ts';
import type { Story } from '../../../functions/operator/show.ts';
import { terminal } from '../../../local/dev/terminal.ts';

const DIRTY = 'a\u001b[2Jb\u009bc\u007fd\re\tf\ng é';
/** Clipboard, screen, direction, room, tags, and line ends of all kinds. */
const EVIL =
  '\u001b]52;c;Y3Vyb\u0007\u001b[2J\u009b2J\u202e\u2066\u200b\u00ad\u3164\u{e0041}\u2800\u{1d159}\r\nNext  evil\u2028Next  evil\u2029x\u0085y\vz';
const SIGNLESS = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;
const ALL = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));

test('text is printed without invisible characters, but with newline and tab', () => {
  expect(printable(DIRTY)).toBe('a[2Jbcde\tf\ng é');
  expect(printable('\u001b[1;31mred\u001b[39m, 日本 🎉')).toBe('red, 日本 🎉');
  expect(printable(EVIL)).not.toMatch(SIGNLESS);
});

test('a value is one line, for each kind of line end in it', () => {
  expect(oneLine(`x${EVIL}`)).toBe('x]52;c;Y3Vyb[2J2J Next  evil Next  evil x y z');
  expect(oneLine('  a  b')).toBe('  a  b');
  expect(
    table([
      ['a\nb', 'c'],
      ['dd', `${'\u200b'.repeat(9)}e`],
    ]),
  ).toBe('a b  c\ndd   e');
});

test('JSON is printed with invisible characters escaped, and means the same', () => {
  for (const value of [{ DIRTY }, { [EVIL]: [EVIL] }, ALL.join('')]) {
    const text = printableJson(`${JSON.stringify(value, undefined, 2)}\n`);
    expect(text).not.toMatch(SIGNLESS);
    expect(JSON.parse(text)).toEqual(value);
  }
});

test('the verbs and dev print the same characters', () => {
  const written: string[] = [];
  const options = { verbose: true, write: (text: string) => void written.push(text), now: () => new Date(0) };
  terminal({ ...options, nameOf: (name) => name }).say(ALL.join(''));
  expect(written.join('').replace(/^\S+ {2}/, '')).toBe(`${printable(ALL.join(''))}\n`);
});

/** A copy with a hostile text behind each of its texts. */
const poisoned = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) => (typeof one === 'string' ? one + EVIL : one)) as T;

const STORY: Story = {
  ...{ taskId: 't', owner: 'o', tool: 'x', status: 'working', round: 1, createdAt: 0, updatedAt: 0, deadlineAt: 9 },
  ...{ seenAs: 'failed', endsBy: 9, readableUntil: 9, rerunOf: 'r' },
  error: { message: 'm', reason: 'E' },
  progress: { at: 0, done: 1, of: 2, message: 'half done' },
  happened: [{ at: 0, what: 'answered', by: 'operator', who: 'ann', reason: 'r', error: 'E' }],
  runs: [
    {
      ...{ round: 1, executionArn: 'a', status: 'RUNNING', failures: [] },
      visits: [{ name: 'Charge', from: 0, to: 1, tries: [{ from: 0, to: 1, error: 'E' }] }],
    },
  ],
  payload: {
    arguments: { a: 'b' },
    result: ['c'],
    errors: [{ at: 0, round: 1, error: 'E', message: 'm', stack: ['s'] }],
  },
  links: {},
};
const EXPLANATION = {
  ...{ taskId: 't', status: 'failed', cause: 'c', because: ['b'], row: '7', endsBy: 9, next: ['n'] },
  ...{ rerunRefusal: 'r', also: ['a'] },
};
const LIST = { tasks: [{ taskId: 't', owner: 'o', tool: 'x', status: 's' }], cursor: 'c' };
const LOGS = { lines: [{ at: 0, source: 's', line: 'l' }], hidden: ['h'] };

test.each<[string, (poison: <T>(value: T) => T) => string]>([
  ['show', (poison) => storyText(poison(STORY), 10)],
  [
    'show of another release',
    (poison) => storyText(poison({ taskId: 't', unreadable: true, stored: { a: 'b' } as never }), 10),
  ],
  ['explain', (poison) => explanationText(poison(EXPLANATION), 10)],
  ['list', (poison) => listText(poison(LIST) as never, 10)],
  ['logs', (poison) => logsText(poison(LOGS))],
])('%s prints the same lines, and only visible characters, for any value', (_, print) => {
  const [plain, evil] = [print((value) => value), print(poisoned)];
  expect(evil).not.toMatch(SIGNLESS);
  expect(evil.split('\n')).toHaveLength(plain.split('\n').length);
  expect(evil).not.toMatch(/^Next {2}evil/m);
});

test('an audit line keeps its texts, with invisible characters escaped', () => {
  const lines: string[] = [];
  const act = { act: 'cancel', taskId: 't', owner: 'o', tool: 'x', who: 'ann', reason: EVIL, done: true, outcome: '' };
  auditTo({ err: (line) => void lines.push(line) })(act as never);
  expect(lines.join('').trimEnd()).not.toMatch(/\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(lines.join(''))).toMatchObject({ event: 'audit', action: 'operator_cancel', reason: EVIL });
});
