import { ToolError } from 'mcp-task-server/tool';
import type { ProfileArguments } from '../definition.ts';
import type { Report } from '../report.ts';
import { count } from '../words.ts';
import { addCell, type Column, newColumn } from './column.ts';
import { countRecords, records } from './csv.ts';
import { type Field, pickFields } from './header.ts';

/** What fits a function of middling memory: 8 bytes a number, with room to grow and to sort. */
const MAX_CELLS = 12_000_000;
const MAX_DISTINCT_PER_COLUMN = 50_000;
const MAX_DISTINCT = 1_000_000;
const ROWS_PER_REPORT = 2_000;
const CELLS_PER_REPORT = 40_000;

export interface Table {
  readonly rows: number;
  readonly columns: readonly Column[];
}

interface OpenColumn {
  readonly column: Column;
  readonly index: number;
}

/** Reads a CSV, whose first record names the columns, column by column. */
export async function readTable(data: Buffer, options: ProfileArguments, report: Report): Promise<Table> {
  const expected = Math.max(1, countRecords(data) - 1);
  let open: readonly OpenColumn[] | undefined;
  let rows = 0;
  let perReport = ROWS_PER_REPORT;
  for await (const record of records(data, report, options.delimiter)) {
    if (open === undefined) {
      open = openColumns(pickFields(record, options.columns));
      perReport = Math.min(ROWS_PER_REPORT, Math.ceil(CELLS_PER_REPORT / record.length));
      continue;
    }
    addRecord(open, rows, record);
    rows += 1;
    if (rows % perReport !== 0) continue;
    await report(`Read ${count(rows)} of ${count(Math.max(rows, expected))} rows`, rows / expected);
  }
  if (open === undefined) throw new ToolError('The data has no columns: send a CSV whose first row names them.');
  if (rows === 0) throw new ToolError('The CSV has a header but no rows below it, so there is nothing to profile.');
  return { rows, columns: open.map(({ column }) => column) };
}

function openColumns(fields: readonly Field[]): OpenColumn[] {
  const distinctBound = Math.min(MAX_DISTINCT_PER_COLUMN, Math.floor(MAX_DISTINCT / fields.length));
  return fields.map(({ name, index }) => ({ column: newColumn(name, distinctBound), index }));
}

function addRecord(open: readonly OpenColumn[], row: number, record: readonly string[]): void {
  if ((row + 1) * open.length > MAX_CELLS) {
    throw new ToolError(`More than ${count(MAX_CELLS)} cells: profile fewer columns at a time, named in \`columns\`.`);
  }
  for (const { column, index } of open) addCell(column, row, record[index] ?? '');
}
