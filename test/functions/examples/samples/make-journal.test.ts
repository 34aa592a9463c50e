import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { slots, subjects } from '../../../../functions/examples/samples/journal-phrases.ts';
import { journalText } from '../../../../functions/examples/samples/make-journal.ts';

const packed = readFileSync(new URL('../../../../functions/examples/samples/journal.txt.gz', import.meta.url));

describe('journal.txt.gz', () => {
  test('is what the generator makes, and small enough to ship', () => {
    expect(packed.length).toBeLessThan(300_000);
    // Compared as a boolean: the difference of two such texts would fill the screen for minutes.
    expect(gunzipSync(packed).toString() === journalText()).toBe(true);
  });

  test('has an entry a line, with its day and its keeper, in order', () => {
    const lines = journalText().trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(3_000);
    const days = lines.map((line) => /^(18[789]\d-\d\d-\d\d) \([A-Z]\. \w+\) [A-Z].*\.$/.exec(line)?.[1] ?? line);
    expect(days).toEqual(days.toSorted());
    expect(days.every((day) => day.length === 10)).toBe(true);
  });

  test('leaves no slot open, and has things that come and go', () => {
    const text = journalText();
    expect(text).not.toMatch(/[{}]|undefined/);
    const yearsOf = (word: string) =>
      [...text.matchAll(new RegExp(`^(\\d{4}).*${word}`, 'gm'))].map(([, year]) => year);
    expect(yearsOf('Used .* quarts of colza').at(-1)).toBe('1878');
    expect(yearsOf('telegraph')[0]).toBe('1881');
  });

  test('uses every slot there is', () => {
    const phrases = [...Object.values(subjects).flatMap(({ says }) => says), ...Object.values(slots).flat()].join(' ');
    for (const slot of Object.keys(slots)) expect(phrases).toContain(`{${slot}}`);
  });
});
