import { describe, expect, test } from 'vitest';
import { dispositionOf, fileKey, isMediaType, nameProblem, pathName } from '../../../../functions/tasks/files/file.ts';

describe('the name of a file', () => {
  test.each(['a', 'film.mp4', 'Zeilen “eins”.txt', '..a', '🙂'.repeat(200), 'a\\b', '%2F'])('%s may be one', (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });

  test.each(['', 'a/b', '🙂'.repeat(201), 'a\nb', 'a\u007f', '\ud800', 7, undefined])('%o may be none', (name) => {
    expect(nameProblem(name)).toMatch(/^a name has/);
  });

  test.each([
    ['film.mp4', 'film.mp4'],
    ['Zeilen “eins”.txt', 'Zeilen_eins_.txt'],
    ['..', 'file'],
    ['日本語', '_'],
    [`${'x'.repeat(100)}.png`, `${'x'.repeat(56)}.png`],
  ])('in a URL %s is %s', (name, part) => expect(pathName(name)).toBe(part));
});

describe('the header of a file', () => {
  test.each([
    ['film.mp4', 'video/mp4', `inline; filename="film.mp4"; filename*=UTF-8''film.mp4`],
    [
      'a"; x="(ä).html',
      'text/html',
      `attachment; filename="a_x_.html"; filename*=UTF-8''a%22%3B%20x%3D%22%28%C3%A4%29.html`,
    ],
    ['a.svg', 'image/svg+xml', `attachment; filename="a.svg"; filename*=UTF-8''a.svg`],
    ['a.svg', 'Image/SVG+xml', `attachment; filename="a.svg"; filename*=UTF-8''a.svg`],
  ])('%s of type %s', (name, type, header) => expect(dispositionOf(name, type)).toBe(header));

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
