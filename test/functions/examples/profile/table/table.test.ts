import { describe, expect, test, vi } from 'vitest';
import type { ProfileArguments } from '../../../../../functions/examples/profile/definition.ts';
import { readTable } from '../../../../../functions/examples/profile/table/table.ts';

const silent = async (): Promise<void> => {};
const read = (csv: string, options: ProfileArguments = {}) => readTable(Buffer.from(csv), options, silent);

/** Each column as its name and its cells. */
async function cellsOf(csv: string, options: ProfileArguments = {}) {
  return (await read(csv, options)).map(({ name, cells }) => [name, ...cells]);
}

describe('reading', () => {
  test('plain rows', async () => {
    expect(await cellsOf('a,b\n1,2.5\n,3\n4,\n')).toEqual([
      ['a', '1', '', '4'],
      ['b', '2.5', '3', ''],
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
    expect(await cellsOf(csv)).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  test('quoted delimiters, quotes and line breaks stay inside their field', async () => {
    expect((await cellsOf('note,n\n"a, ""b""\nc",1\n"",2\n'))[0]).toEqual(['note', 'a, "b"\nc', '']);
  });

  test.each([',', ';', '\t', '|'])('guesses the delimiter %o', async (delimiter) => {
    const rows = [
      ['a', 'b', '"c,;"'],
      ['1', '2', '3'],
    ];
    expect(await read(rows.map((row) => row.join(delimiter)).join('\n'))).toHaveLength(3);
  });

  test('a tab is a delimiter, not a blank to cut off', async () => {
    expect(await cellsOf('a\tb\n\t1\n 2 \t\n')).toEqual([
      ['a', '', '2'],
      ['b', '1', ''],
    ]);
  });

  test('takes the delimiter it is given', async () => {
    expect(await cellsOf('a,b:c\n1,2:3', { delimiter: ':' })).toEqual([
      ['a,b', '1,2'],
      ['c', '3'],
    ]);
  });

  test('a line end cut in two by the chunks is still one line end', async () => {
    for (const padding of [0, 1, 2, 3]) {
      const csv = `a,b\r\n${'x'.repeat(padding)},1\r\n${'5,7\r\n'.repeat(40_000)}`;
      expect((await read(csv))[1]?.cells).toHaveLength(40_001);
    }
  });

  test('a character cut in two by the chunks is still one character', async () => {
    const [column] = await read(`a\n${'ä€😀\n'.repeat(20_000)}`);
    expect([column?.cells.length, new Set(column?.cells)]).toEqual([20_000, new Set(['ä€😀'])]);
  });

  test('names what has no name, numbers what is named twice', async () => {
    const names = (await read('a,,a,a (2)\n1,2,3,4')).map(({ name }) => name);
    expect(names).toEqual(['a', 'column 2', 'a (2)', 'a (2) (2)']);
  });

  test('keeps the wanted columns, in the order of the file', async () => {
    expect(await cellsOf('a,b,c\n1,2,3', { columns: ['c', 'a'] })).toEqual([
      ['a', '1'],
      ['c', '3'],
    ]);
  });

  test('reports rows as it goes, and which share of the bytes is read', async () => {
    const report = vi.fn(silent);
    await readTable(Buffer.from(`a,b\n${'1,"x\ny"\n'.repeat(2_500)}`), {}, report);
    expect(report.mock.calls.map(([message]: unknown[]) => message)).toEqual(['Read 1,000 rows', 'Read 2,000 rows']);
    const shares = report.mock.calls.map(([, done]: unknown[]) => Number(done));
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
  });
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
  });

  test('more cells than its memory holds', async () => {
    const csv = `${'a,'.repeat(199)}a\n${`${'1,'.repeat(199)}1\n`.repeat(15_001)}`;
    await expect(read(csv)).rejects.toThrow(/More than 3,000,000 cells/);
  });

  test('a record without end', async () => {
    await expect(read(`a\n"${'x'.repeat(1_100_000)}"`)).rejects.toThrow(/malformed/);
  });
});
