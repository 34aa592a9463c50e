import { expect, test } from 'vitest';
import { CATALOG, type CatalogEntry, STATE_TYPES } from '../../local/testing.ts';
import { readPage } from './pages.ts';

const GUIDE = 'https://docs.aws.amazon.com/step-functions/latest/dg';
const code = (names: string) =>
  names
    .split(' ')
    .map((name) => `\`${name}\``)
    .join(', ');

/** The section of the page, made of the lists of the embedded Step Functions. */
function section(): string {
  const entries: [string, CatalogEntry][] = Object.entries(CATALOG);
  const rows = entries.map(([name, { arguments: known = '', endings, page }]) => {
    const waits = endings === undefined ? '' : code(endings);
    return `| \`${name}\` | ${waits} | ${code(known)} | [\`${page}\`](${GUIDE}/${page}.html) |`;
  });
  return [
    `States: ${code(STATE_TYPES.join(' '))}. A task may call a function by its ARN as the Resource, and`,
    '',
    '| `arn:aws:states:::…` | and wait, by | arguments | page of AWS |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

test('docs/writing-tools.md lists what state machines may call in the embedded cloud', () => {
  expect(readPage('docs/writing-tools.md')).toContain(`\n${section()}\n`);
});
