import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { trackedFiles } from './imports.ts';

/** Words of "Words to avoid" in CONTRIBUTING.md that a search finds without doubt, and what to write. */
const IDIOMS: readonly (readonly [idiom: RegExp, instead: string])[] = [
  [/\b(that|those) of\b/gi, 'the noun again, or a genitive'],
  [/\bsuch an? /gi, 'this, or a'],
  [/\b(whoever|nobody|anybody)\b/gi, 'who it is: the caller, a client, no client'],
  [/\b(is|are|was|were|be|been) told\b/gi, 'gets, sees, is published'],
  [/\banew\b/gi, 'again'],
  [/\b(came|come|became|become|becomes) of\b/gi, 'resulted in, the outcome of'],
  [/\bpatience\b/gi, 'a timeout'],
  [/\blook(s|ed|ing)? at\b/gi, 'reads, checks'],
];

/** In comments only: a message, or data, may say it. "There is no …" is usual. */
const IDIOMS_OF_COMMENTS: typeof IDIOMS = [
  ...IDIOMS,
  [/(?<!\bthere )\b(is|are|was|were) no\b(?! (longer|more)\b)/gi, 'is not a …, has no …'],
];

const read = (file: string) => readFileSync(file, 'utf8');
/** Lines and comment marks become blanks: a line may end within an idiom. */
const inOneLine = (text: string) => text.replace(/\s*\n\s*(\*|\/\/)?\s*/g, ' ');

const STRING = /(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/.source;
/** The texts before the body of a test or suite, and at the begin of a row of a table: it is in the title of its test. */
const TITLES = new RegExp(
  String.raw`(?:\b(?:test|it|describe)(?:\.\w+)*(?:<[^(]*>)?\(|\)\(|\[)\s*(${STRING})\s*,`,
  'g',
);
const titles = (file: string) => [...read(file).matchAll(TITLES)].map(([, title = '']) => title);

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*/g;
const comments = (file: string) => (read(file).match(COMMENTS) ?? []).map(inOneLine);

function idiomsIn(
  patterns: readonly string[],
  textsOf: (file: string) => readonly string[],
  idioms: typeof IDIOMS = IDIOMS,
) {
  const files = trackedFiles(...patterns);
  const found = files.flatMap((file) =>
    textsOf(file).flatMap((text) =>
      idioms.flatMap(([idiom, instead]) =>
        [...text.matchAll(idiom)].map(
          ({ index }) => `${file}: “${text.slice(Math.max(0, index - 30), index + 30)}”: ${instead}`,
        ),
      ),
    ),
  );
  return { files, found };
}

test('source and docs have none of the idioms that CONTRIBUTING.md lists', () => {
  const patterns = ['functions', 'lib', 'bin', 'local', 'docs', '*.md', ':!local/test', ':!CONTRIBUTING.md'];
  const { files, found } = idiomsIn(patterns, (file) => [inOneLine(read(file))]);
  expect(files.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});

test('the titles of tests have none of them', () => {
  const { files, found } = idiomsIn(['test/**.ts', 'local/test/**.ts'], titles);
  expect(files.flatMap(titles).length).toBeGreaterThan(5_000);
  expect(found).toEqual([]);
});

test('the comments of sources and tests have none of them', () => {
  const patterns = ['functions/**.ts', 'lib/**.ts', 'bin/**.ts', 'local/**.ts', 'test/**.ts'];
  const { files, found } = idiomsIn(patterns, comments, IDIOMS_OF_COMMENTS);
  expect(files.flatMap(comments).length).toBeGreaterThan(5_000);
  expect(found).toEqual([]);
});
