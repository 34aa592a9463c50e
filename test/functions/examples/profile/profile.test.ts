import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test, vi } from 'vitest';
import { profileTable } from '../../../../functions/examples/profile/profile.ts';
import { render } from '../../../../functions/examples/profile/render.ts';
import { type Report, stretch } from '../../../../functions/examples/profile/report.ts';
import { profileSchema } from '../../../../functions/examples/profile/table/schema.ts';
import { readTable } from '../../../../functions/examples/profile/table/table.ts';

const silent: Report = async () => {};
const valid = new Ajv2020({ strict: true }).compile(profileSchema);

async function profile(csv: string, resamples = 0, report = silent) {
  return profileTable(await readTable(Buffer.from(csv), {}, silent), resamples, report);
}

const SMALL = [
  'id,price,paid,day,city,gone',
  '1,10.5,yes,2024-01-03,Rome,',
  '2,n/a,no,2024-01-01,Rome,',
  '3,30.5,yes,2024-01-02T12:00Z,"Bonn|a",',
  '4,20.5,yes,2024-02-01,,NA',
].join('\n');

describe('profileTable', () => {
  test('describes each type, by hand', async () => {
    const { rows, columns, correlations } = await profile(SMALL);
    const exact = { invalid: 0, distinctExact: true };
    expect(rows).toBe(4);
    expect(columns).toEqual([
      {
        ...exact,
        name: 'id',
        type: 'integer',
        count: 4,
        missing: 0,
        distinct: 4,
        min: 1,
        max: 4,
        mean: 2.5,
        stddev: expect.closeTo(Math.sqrt(5 / 3), 12),
        quantiles: { p05: expect.closeTo(1.15, 12), p25: 1.75, p50: 2.5, p75: 3.25, p95: expect.closeTo(3.85, 12) },
      },
      expect.objectContaining({
        name: 'price',
        type: 'number',
        count: 3,
        missing: 1,
        min: 10.5,
        max: 30.5,
        mean: 20.5,
        stddev: 10,
      }),
      {
        ...exact,
        name: 'paid',
        type: 'boolean',
        count: 4,
        missing: 0,
        distinct: 2,
        topValues: [
          { value: 'yes', count: 3 },
          { value: 'no', count: 1 },
        ],
      },
      {
        ...exact,
        name: 'day',
        type: 'date',
        count: 4,
        missing: 0,
        distinct: 4,
        earliest: '2024-01-01',
        latest: '2024-02-01',
      },
      {
        ...exact,
        name: 'city',
        type: 'string',
        count: 3,
        missing: 1,
        distinct: 2,
        shortest: 4,
        longest: 6,
        topValues: [
          { value: 'Rome', count: 2 },
          { value: 'Bonn|a', count: 1 },
        ],
      },
      { ...exact, name: 'gone', type: 'empty', count: 0, missing: 4, distinct: 0 },
    ]);
    // Over rows 1, 3, 4: id deviates -5/3 1/3 4/3, price -10 10 0.
    const pearson = expect.closeTo(20 / Math.sqrt((42 / 9) * 200), 12);
    expect(correlations).toEqual([{ a: 'id', b: 'price', rows: 3, pearson, spearman: expect.closeTo(0.5, 12) }]);
  });

  test('adds intervals to numeric columns when asked to resample', async () => {
    const { columns, bootstrap } = await profile(SMALL, 100);
    expect(bootstrap).toBe(100);
    expect(columns.map((column) => column.meanInterval !== undefined)).toEqual([true, true, ...Array(4).fill(false)]);
    expect(columns[0]?.meanInterval?.low).toBeGreaterThanOrEqual(1);
    expect(columns[0]?.medianInterval?.high).toBeLessThanOrEqual(4);
  });

  test('puts the strongest correlations first', async () => {
    const rows = Array.from({ length: 20 }, (_, n) => `${n},${n * n},${(n * 7) % 11}`);
    const { correlations } = await profile(`a,b,c\n${rows.join('\n')}`);
    const strengths = correlations.map(({ pearson }) => Math.abs(pearson));
    expect(correlations[0]).toMatchObject({ a: 'a', b: 'b' });
    expect(strengths).toEqual(strengths.toSorted((one, other) => other - one));
  });

  test('correlates the first 30 numeric columns and says so', async () => {
    const names = Array.from({ length: 31 }, (_, n) => `c${n}`);
    const rows = [1, 2, 4].map((row) => names.map((_, n) => row * (n + 1)).join(','));
    const { correlations, notes } = await profile([names.join(','), ...rows].join('\n'));
    expect(correlations).toHaveLength((30 * 29) / 2);
    expect(notes).toEqual([expect.stringContaining('first 30 numeric columns')]);
  });

  test('reports every phase, never backwards', async () => {
    const report = vi.fn(silent);
    const rows = Array.from({ length: 1_000 }, (_, n) => `${n},${n % 7},x`);
    await profile(`a,b,c\n${rows.join('\n')}`, 4_000, report);
    const told = report.mock.calls.filter(([message]) => message !== undefined);
    const messages = told.map(([message]) => message);
    expect(messages.slice(0, 4)).toEqual([
      'Computing quantiles of a (1/3)',
      'Computing quantiles of b (2/3)',
      'Computing quantiles of c (3/3)',
      'Correlating a with b (1/1)',
    ]);
    expect(new Set(messages.slice(4))).toEqual(
      new Set(['Resampling a 4000 times (1/2)', 'Resampling b 4000 times (2/2)']),
    );
    const done = told.map(([, share = 0]) => share);
    expect(done).toEqual(done.toSorted((one, other) => one - other));
    expect(done.at(-1)).toBe(1);
  });
});

describe('render', () => {
  test('a small profile as a table and as data that fits the schema', async () => {
    const { text, structured } = render({ source: 'the CSV sent', ...(await profile(SMALL, 100)) });
    expect(valid(structured), JSON.stringify(valid.errors)).toBe(true);
    const lines = text.split('\n');
    expect(lines[0]).toBe('Profile of the CSV sent: 4 rows, 6 columns.');
    expect(lines.find((line) => line.startsWith('| day '))).toBe(
      '| day | date | 4 | 0 | 4 | 2024-01-01 to 2024-02-01 |',
    );
    expect(lines.find((line) => line.startsWith('| city '))).toBe(
      '| city | string | 3 | 1 | 2 | Rome ×2, Bonn\\|a ×1 |',
    );
    expect(lines.at(-1)).toBe('- id and price: 0.655, 0.500, 3');
  });

  test('says when distinct values or invalid ones are more than it tells', async () => {
    const rows = Array.from({ length: 50_100 }, (_, n) => `v${n},${n === 7 ? 'lost' : n * 1_000_000}`);
    const { text, structured } = render({ source: 'x', ...(await profile(`a,b\n${rows.join('\n')}`)) });
    expect(text).toContain('| a | string | 50,100 | 0 | over 50,000 |');
    expect(text).toContain('1 not integer');
    expect(structured).toMatchObject({ columns: [{ distinct: 50_000, distinctExact: false }, { invalid: 1 }] });
  });

  test.each([
    ['wide letters', '漢', 7e-9],
    ['letters JSON escapes', '\u0001', 7e-9],
    ['long exponents', '"', 7e-141],
  ])('the widest table (%s) stays below 100 KB and fits the schema', async (_case, letter, scale) => {
    const names = Array.from({ length: 200 }, (_, n) => `"${letter.replace('"', '""').repeat(100)}${n}"`);
    const row = (n: number) => names.map((_, at) => -(n + 1) * Math.sqrt(at + 2) * scale).join(',');
    const wide = await profile([names.join(','), row(0), row(1), row(5)].join('\n'), 20);
    const rendered = render({ source: 'x'.repeat(300), ...wide });
    expect(Buffer.byteLength(JSON.stringify(rendered))).toBeLessThan(100_000);
    expect(rendered.structured.columns).toHaveLength(200);
    expect(rendered.structured.notes).toContainEqual(expect.stringContaining('name fewer columns'));
    expect(valid(rendered.structured), JSON.stringify(valid.errors)).toBe(true);
  });

  test('texts are cut between characters', async () => {
    const { structured } = render({ source: 'x', ...(await profile(`a\n${'😀'.repeat(50)}\n`)) });
    expect(structured.columns[0]?.topValues?.[0]?.value).toBe(`${'😀'.repeat(29)}…`);
  });
});

test('stretch maps a phase into the whole', async () => {
  const report = vi.fn(silent);
  await stretch(report, 0.2, 0.6)('half', 0.5);
  await stretch(report, 0.2, 0.6)('more than all', 1.5);
  expect(report.mock.calls).toEqual([
    ['half', 0.4],
    ['more than all', expect.closeTo(0.6)],
  ]);
});
