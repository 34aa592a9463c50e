import { describe, expect, test, vi } from 'vitest';
import type { ProfileArguments } from '../../../../../functions/examples/profile/definition.ts';
import { numbersOf, presentCount, typeOf } from '../../../../../functions/examples/profile/table/column.ts';
import { countRecords, guessDelimiter } from '../../../../../functions/examples/profile/table/csv.ts';
import { readTable } from '../../../../../functions/examples/profile/table/table.ts';

const silent = async (): Promise<void> => {};
const read = (csv: string, options: ProfileArguments = {}) => readTable(Buffer.from(csv), options, silent);

async function columnsOf(csv: string, options: ProfileArguments = {}) {
  const { rows, columns } = await read(csv, options);
  return columns.map((column) => [column.name, typeOf(column), presentCount(column), [...numbersOf(column, rows)]]);
}

describe('reading', () => {
  test('plain rows', async () => {
    expect(await columnsOf('a,b\n1,2.5\n,3\n4,\n')).toEqual([
      ['a', 'integer', 2, [1, Number.NaN, 4]],
      ['b', 'number', 2, [2.5, 3, Number.NaN]],
    ]);
  });

  test.each([
    ['BOM', '\uFEFFa,b\n1,2\n'],
    ['CRLF', 'a,b\r\n1,2\r\n'],
    ['lone CR', 'a,b\r1,2\r'],
    ['no last line end', 'a,b\n1,2'],
    ['blank lines', '\na,b\n\n1,2\n\n'],
    ['quoted names', '"a","b"\n"1","2"\n'],
    ['blanks around', 'a, b \n 1 , 2 \n'],
  ])('%s', async (_case, csv) => {
    expect(await columnsOf(csv)).toEqual([
      ['a', 'integer', 1, [1]],
      ['b', 'integer', 1, [2]],
    ]);
  });

  test('quoted delimiters, quotes and line breaks stay inside their field', async () => {
    const { rows, columns } = await read('note,n\n"a, ""b""\nc",1\n"",2\n');
    expect(rows).toBe(2);
    expect([...(columns[0]?.seen ?? [])]).toEqual([['a, "b"\nc', 1]]);
    expect(columns[0]?.kinds.missing).toBe(1);
  });

  test.each([',', ';', '\t', '|'])('guesses the delimiter %o', async (delimiter) => {
    const csv = ['a', 'b', '"c,;"'].join(delimiter);
    expect(guessDelimiter(Buffer.from(csv))).toBe(delimiter);
    expect((await read(`${csv}\n${['1', '2', '3'].join(delimiter)}`)).columns).toHaveLength(3);
  });

  test('takes the delimiter it is given', async () => {
    expect((await read('a,b:c\n1,2:3', { delimiter: ':' })).columns.map(({ name }) => name)).toEqual(['a,b', 'c']);
  });

  test('a line end cut in two by the chunks is still one line end', async () => {
    for (const padding of [0, 1, 2, 3]) {
      const csv = `a,b\r\n${'x'.repeat(padding)},1\r\n${'5,7\r\n'.repeat(40_000)}`;
      expect((await read(csv)).rows).toBe(40_001);
    }
  });

  test('a character cut in two by the chunks is still one character', async () => {
    const { columns } = await read(`a\n${'ä€😀\n'.repeat(20_000)}`);
    expect([...(columns[0]?.seen ?? [])]).toEqual([['ä€😀', 20_000]]);
  });

  test('names what has no name, numbers what is named twice', async () => {
    const { columns } = await read('a,,a,a (2)\n1,2,3,4');
    expect(columns.map(({ name }) => name)).toEqual(['a', 'column 2', 'a (2)', 'a (2) (2)']);
  });

  test('keeps the wanted columns, in the order of the file', async () => {
    const table = await columnsOf('a,b,c\n1,2,3', { columns: ['c', 'a'] });
    expect(table.map(([name, , , numbers]) => [name, numbers])).toEqual([
      ['a', [1]],
      ['c', [3]],
    ]);
  });

  test('a few values that do not fit leave the type alone, many do not', async () => {
    const rows = (bad: number): string => `a\n${'bad\n'.repeat(bad)}${'1\n'.repeat(100 - bad)}`;
    expect((await columnsOf(rows(5)))[0]?.[1]).toBe('integer');
    expect((await columnsOf(rows(6)))[0]?.[1]).toBe('string');
  });

  test('counts distinct values up to the bound, and says so', async () => {
    const rows = Array.from({ length: 50_001 }, (_, index) => `v${index}`);
    const [column] = (await read(`a\n${rows.join('\n')}\nv0`)).columns;
    expect([column?.seen.size, column?.seenAll, column?.seen.get('v0')]).toEqual([50_000, false, 2]);
  });

  test('reports rows as it goes, and counts records for the total', async () => {
    const report = vi.fn(silent);
    await readTable(Buffer.from(`a,b\n${'1,"x\ny"\n'.repeat(5_000)}`), {}, report);
    expect(report.mock.calls.filter((call) => call.length > 0)).toEqual([
      ['Read 2,000 of 5,000 rows', 0.4],
      ['Read 4,000 of 5,000 rows', 0.8],
    ]);
  });
});

test.each([
  ['', 0],
  ['a', 1],
  ['a\n', 1],
  ['a\r\nb\r\n\r\n', 2],
  ['a\n"b\nc"\nd', 3],
])('countRecords(%o) is %i', (csv, count) => {
  expect(countRecords(Buffer.from(csv))).toBe(count);
});

describe('refuses', () => {
  test.each([
    ['nothing', '', /no columns/],
    ['only blank lines', '\n\n', /no columns/],
    ['a header alone', 'a,b\n', /no rows below/],
    ['a short row', 'a,b\n1,2\n3\n', /malformed near line 3.*as many fields as the header/s],
    ['a long row', 'a,b\n1,2,3\n', /malformed near line 2/],
    ['an open quote', 'a,b\n"1,2\n', /malformed.*double quotes/s],
    ['a stray quote', 'a,b\n5" pipe,2\n', /malformed near line 2.*double quotes/s],
    ['too many columns', `${'a,'.repeat(200)}a\n`, /201 columns; at most 200/],
  ])('%s', async (_case, csv, message) => {
    await expect(read(csv)).rejects.toMatchObject({ name: 'ToolError', message: expect.stringMatching(message) });
  });

  test('bytes that are not UTF-8', async () => {
    const utf16 = readTable(Buffer.from('\uFEFFa,b\n', 'utf16le'), {}, silent);
    await expect(utf16).rejects.toThrow(/not UTF-8/);
  });

  test('unknown columns, naming those there are', async () => {
    await expect(read('a,b\n1,2', { columns: ['a', 'z'] })).rejects.toThrow(
      'No such column: "z". The CSV has: "a", "b".',
    );
    await expect(read('a,b\n1,2', { columns: [] })).rejects.toThrow(/`columns` is empty/);
  });

  test('a record without end', async () => {
    await expect(read(`a\n"${'x'.repeat(1_100_000)}"`)).rejects.toThrow(/malformed/);
  });
});
