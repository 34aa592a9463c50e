import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { include } from '../../lib/workflow/definition.ts';

const folder = new URL('../../lib/workflow/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonata'));
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');

test('some of the expressions have comments, and include others', () => {
  expect(files.filter((name) => textOf(name).includes('/*'))).not.toEqual([]);
  expect(files.filter((name) => /<[a-z/-]+\.jsonata>/.test(textOf(name)))).not.toEqual([]);
});

test.each(files)('%s becomes one line, without comments and with included files', (name) => {
  const text = include(`<${name}>`);
  expect(text).not.toMatch(/\/\*|\*\/|\n|<[a-z/-]+\.jsonata>/);
  const withoutComments = textOf(name)
    .split('/*')
    .map((part, n) => (n === 0 ? part : part.slice(part.indexOf('*/') + 2)))
    .join('');
  const lines = withoutComments.split('\n').map((line) => line.trim());
  expect(text).toBe(include(lines.filter((line) => line !== '').join(' ')));
});
