import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Words of "Words to avoid" in CONTRIBUTING.md that a search finds without doubt, and what to write. */
const IDIOMS: readonly (readonly [idiom: RegExp, instead: string])[] = [
  [/\b(that|those) of\b/gi, 'the noun again, or a genitive'],
  [/\bsuch an? /gi, 'this, or a'],
  [/\b(whoever|nobody|anybody)\b/gi, 'the caller, the client, no client'],
  [/\b(is|are|was|were|be|been) told\b/gi, 'gets, sees, is published'],
  [/\banew\b/gi, 'again'],
  [/\b(came|come|became|become|becomes) of\b/gi, 'resulted in, the outcome of'],
  [/\bpatience\b/gi, 'a timeout'],
  [/\blook(s|ed|ing)? at\b/gi, 'reads, checks'],
];

/** Lines and comment marks become blanks: a line may end within an idiom. */
const oneLine = (file: string) => readFileSync(file, 'utf8').replace(/\s*\n\s*(\*|\/\/)?\s*/g, ' ');

test('source and docs have none of the idioms that CONTRIBUTING.md lists', () => {
  const patterns = ['functions', 'lib', 'bin', 'local', 'docs', '*.md', ':!local/test', ':!CONTRIBUTING.md'];
  const files = execFileSync('git', ['ls-files', ...patterns], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) => {
    const text = oneLine(file);
    return IDIOMS.flatMap(([idiom, instead]) =>
      [...text.matchAll(idiom)].map(({ index }) => `${file}: “${text.slice(index - 30, index + 30)}”: ${instead}`),
    );
  });
  expect(found).toEqual([]);
});
