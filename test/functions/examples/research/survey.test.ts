import { describe, expect, test } from 'vitest';
import { readCorpus } from '../../../../functions/examples/research/corpus.ts';
import { keyness, survey } from '../../../../functions/examples/research/survey.ts';
import { termsOf } from '../../../../functions/examples/research/terms.ts';

test.each([
  ['The ships at noon, and a ship', ['ship', 'ship']],
  ['Boxes, bushes, wishes, ladies, houses', ['box', 'bush', 'wish', 'lady', 'house']],
  ['glass gas bus iris', ['glass', 'gas', 'bus', 'iris']],
  ['', []],
])('termsOf(%o)', (text, terms) => {
  expect(termsOf(text)).toEqual(terms);
});

describe('keyness', () => {
  test('by hand: in 8 of 10 entries here, in 10 of 100 everywhere', () => {
    // Expected 1 here and 9 elsewhere; seen 8 and 2.
    expect(keyness(8, 10, 10, 100)).toBeCloseTo(2 * (8 * Math.log(8) + 2 * Math.log(2 / 9)), 12);
  });

  test('is nothing for what is as common or rarer here', () => {
    expect([keyness(1, 10, 10, 100), keyness(0, 10, 10, 100)]).toEqual([0, 0]);
  });

  test('knows a term that is nowhere else', () => {
    expect(keyness(5, 10, 5, 100)).toBeCloseTo(2 * 5 * Math.log(10), 12);
  });
});

/** Days with ice: sledges go, or boats lie. Days without: neither. */
const corpus = readCorpus(
  Array.from({ length: 60 }, (_, day) => {
    const date = `1880-01-${String(day % 28).padStart(2, '0')}`;
    if (day % 3 === 0) return `${date} (K. Eeper) Calm. Fog.`;
    return `${date} (K. Eeper) Ice. ${day % 3 === 1 ? 'Sledges went over Frozen ground.' : 'Boats lay idle.'}`;
  }).join('\n'),
);

describe('survey', () => {
  test('finds the entries on the topic, and the aspects they fall into', () => {
    const { topic, entries, aspects } = survey(corpus, 'The ICE', 1);
    expect(topic).toEqual(['ice']);
    expect(entries).toEqual([...Array(60).keys()].filter((day) => day % 3 !== 0));
    expect(aspects).toEqual([
      { lead: 'boat', name: 'boat, idle, lay' },
      { lead: 'frozen', name: 'frozen, ground, sledge' },
    ]);
  });

  test.each(['snow', 'the', ''])('refuses what the corpus does not know: %o', (topic) => {
    expect(() => survey(corpus, topic, 1)).toThrow(/no word on/);
  });

  test('refuses what nothing can be found out about', () => {
    expect(() => survey(readCorpus('1880-01-01 (K. Eeper) Ice.'), 'ice', 1)).toThrow(/too little on "ice"/);
  });
});
