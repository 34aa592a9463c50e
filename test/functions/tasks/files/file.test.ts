import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dispositionOf, fileKey, isMediaType, nameProblem, pathName } from '../../../../functions/tasks/files/file.ts';

/** Name, type, part of a URL, header. `mcp_files.py` has to make the same. */
const vectors: readonly [string, string, string, string][] = JSON.parse(
  readFileSync(new URL('vectors.json', import.meta.url), 'utf8'),
);

describe('the name of a file', () => {
  test.each(['a', 'film.mp4', 'Zeilen “eins”.txt', '..a', '🙂'.repeat(200), 'a\\b', '%2F'])('%s may be one', (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });

  test.each(['', 'a/b', '🙂'.repeat(201), 'a\nb', 'a\u007f', '\ud800', 7, undefined])('%o may be none', (name) => {
    expect(nameProblem(name)).toMatch(/^a name has/);
  });
});

describe('the header of a file', () => {
  test.each(vectors)('%s of type %s is %s in a URL, and has its name in a header', (name, type, part, header) => {
    expect([pathName(name), dispositionOf(name, type)]).toEqual([part, header]);
  });

  test('a long name keeps its end in a URL', () => {
    expect(pathName(`${'x'.repeat(100)}.png`)).toBe(`${'x'.repeat(56)}.png`);
  });

  test.each(['text/plain; charset=utf-8', 'application/vnd.a+json', 'text/csv;header="a b"'])(
    '%s is a type',
    (type) => {
      expect(isMediaType(type)).toBe(true);
    },
  );

  test.each(['text', 'text/', 'text/plain\r\nx: y', 'text/plain;', `a/${'b'.repeat(127)}`, 7])('%o is none', (type) => {
    expect(isMediaType(type)).toBe(false);
  });
});

test('the key of a file does not tell its task, and differs by task and owner', () => {
  const keys = [
    fileKey({ owner: 'o', taskId: 'task1' }, 'id'),
    fileKey({ owner: 'o', taskId: 'task2' }, 'id'),
    fileKey({ owner: 'p', taskId: 'task1' }, 'id'),
  ];
  expect(new Set(keys).size).toBe(3);
  for (const key of keys) expect(key).toMatch(/^files\/[0-9a-f]{64}\/id$/);
});
