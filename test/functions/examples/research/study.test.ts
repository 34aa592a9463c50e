import { expect, test } from 'vitest';
import { appendix, concordance } from '../../../../functions/examples/research/concordance.ts';
import { readCorpus } from '../../../../functions/examples/research/corpus.ts';
import { study } from '../../../../functions/examples/research/study.ts';

const corpus = readCorpus(
  [
    '1880-01-01 (K. Eeper) Ice and boats. Boats and sledges. Boats and sledges.',
    '1880-02-01 (K. Eeper) Ice and sledges, boats and sledges.',
    '1881-01-01 (K. Eeper) Ice. Fog, ice.',
    '1882-01-01 (K. Eeper) Fog.',
  ].join('\n'),
);
const entries = corpus.entries.slice(0, 3);

test('study: terms, pairs, years and quotes, by hand', () => {
  expect(study(corpus, entries, { name: 'ice, boat', lead: 'ice' }, 1)).toEqual({
    name: 'ice, boat',
    entries: 3,
    // How often in the three entries, times ln(4 / entries that have it).
    terms: [
      { term: 'boat', count: 4, weight: 2.773 },
      { term: 'sledge', count: 4, weight: 2.773 },
      { term: 'ice', count: 4, weight: 1.151 },
      { term: 'fog', count: 1, weight: expect.closeTo(Math.LN2, 3) },
    ],
    // Six sentences: boats in four, sledges in three, together in three, where 4 * 3 / 6 would be chance.
    pairs: [{ a: 'boat', b: 'sledge', sentences: 3, lift: 1.5 }],
    years: [
      { year: 1880, entries: 2 },
      { year: 1881, entries: 1 },
    ],
    quotes: [
      // The same terms as the next, in fewer words.
      { date: '1880-02-01', text: 'Ice and sledges, boats and sledges.' },
      { date: '1880-01-01', text: 'Ice and boats. Boats and sledges. Boats and sledges.' },
      { date: '1881-01-01', text: 'Ice. Fog, ice.' },
    ],
  });
});

test('concordance: every place of a term, sorted by term and by what follows', () => {
  const lines = concordance(entries, ['sledge', 'fog'], 10);
  expect(lines.map(({ term, date, word, right }) => [term, date, word, right])).toEqual([
    ['fog', '1881-01-01', 'Fog', ', ice.'],
    ['sledge', '1880-02-01', 'sledges', ', boats and sledges.'],
    ['sledge', '1880-01-01', 'sledges', '.'],
    ['sledge', '1880-02-01', 'sledges', '.'],
    ['sledge', '1880-01-01', 'sledges', '. Boats and sledges.'],
  ]);
});

test('concordance: leaves out whole terms when there are too many places', () => {
  expect(concordance(entries, ['boat', 'sledge', 'fog'], 5).map(({ term }) => term)).toEqual([
    ...Array(4).fill('boat'),
    'fog',
  ]);
});

test('an appendix is a resource in the format that was asked for', () => {
  const lines = concordance(entries, ['fog'], 10);
  expect(appendix(lines, 'csv')).toEqual({
    type: 'resource',
    resource: {
      uri: 'journal://concordance.csv',
      mimeType: 'text/csv',
      text: 'term,date,left,word,right\n"fog","1881-01-01","Ice. ","Fog",", ice."',
    },
  });
  expect(appendix(lines, 'markdown')).toMatchObject({
    resource: { mimeType: 'text/markdown', text: '## fog (1)\n\n- 1881-01-01 Ice. **Fog**, ice.' },
  });
});
