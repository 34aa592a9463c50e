import { addCell, type Column, newColumn } from './column.ts';
import { countRecords, records } from './csv.ts';
import { InputProblem } from './errors.ts';
import { type Field, pickFields } from './header.ts';
import type { Report } from './report.ts';
import { count } from './words.ts';

/** What fits a function of middling memory: 8 bytes a number, with room to grow and to sort. */
const MAX_CELLS = 12_000_000;
const MAX_DISTINCT_PER_COLUMN = 50_000;
const MAX_DISTINCT = 1_000_000;
const ROWS_PER_REPORT = 2_000;

export interface TableOptions {
  readonly delimiter?: string | undefined;
  readonly columns?: readonly string[] | undefined;
}

export interface Table {
  readonly rows: number;
  readonly columns: readonly Column[];
}

interface OpenColumn {
  readonly column: Column;
  readonly index: number;
}

/** Reads a CSV, whose first record names the columns, column by column. */
export async function readTable(data: Buffer, options: TableOptions, report: Report): Promise<Table> {
  const expected = Math.max(1, countRecords(data) - 1);
  let open: readonly OpenColumn[] | undefined;
  let rows = 0;
  for await (const record of records(data, options.delimiter)) {
    if (open === undefined) {
      open = openColumns(pickFields(record, options.columns));
      continue;
    }
    addRecord(open, rows, record);
    rows += 1;
    if (rows % ROWS_PER_REPORT !== 0) continue;
    await report(`Read ${count(rows)} of ${count(Math.max(rows, expected))} rows`, rows / expected);
  }
  if (open === undefined) throw new InputProblem('The data has no columns: send a CSV whose first row names them.');
  if (rows === 0) throw new InputProblem('The CSV has a header but no rows below it, so there is nothing to profile.');
  return { rows, columns: open.map(({ column }) => column) };
}

function openColumns(fields: readonly Field[]): OpenColumn[] {
  const distinctBound = Math.min(MAX_DISTINCT_PER_COLUMN, Math.floor(MAX_DISTINCT / fields.length));
  return fields.map(({ name, index }) => ({ column: newColumn(name, distinctBound), index }));
}

function addRecord(open: readonly OpenColumn[], row: number, record: readonly string[]): void {
  if ((row + 1) * open.length > MAX_CELLS) {
    throw new InputProblem(
      `More than ${count(MAX_CELLS)} cells: profile fewer columns at a time, named in \`columns\`.`,
    );
  }
  for (const { column, index } of open) addCell(column, row, record[index] ?? '');
}
