import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ToolError } from 'mcp-task-server/tool';
import type { ProfileArguments } from '../definition.ts';
import type { Report } from '../report.ts';
import { formatted, shorten } from '../words.ts';

/** A column of a table. Each row has a cell, without the blanks around it. */
export interface Column {
  readonly name: string;
  readonly cells: readonly string[];
}

const MAX_COLUMNS = 200;
/** What fits a function with 1 GB of memory: some 40 bytes a cell, and as much again to rank two columns. */
const MAX_CELLS = 3_000_000;
const MAX_ROW_CHARS = 1_000_000;
const CHUNK_BYTES = 65_536;
const ROWS_PER_REPORT = 1_000;

/** Reads a CSV, whose first row names the columns. */
export async function readTable(data: Buffer, args: ProfileArguments, report: Report): Promise<readonly Column[]> {
  if (!isUtf8(data)) throw new ToolError('The data is not UTF-8 text. Save it as CSV in UTF-8 and try again.');
  const parser = parse({
    bom: true,
    delimiter: args.delimiter ?? guessDelimiter(data),
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    trim: true,
    max_record_size: MAX_ROW_CHARS,
  });
  // The loop below throws the errors of the parser.
  pipeline(chunksOf(data), parser, () => {});
  let columns: ReturnType<typeof openColumns> | undefined;
  let rows = 0;
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      if (columns === undefined) {
        columns = openColumns(record, args.columns);
        continue;
      }
      rows += 1;
      if (rows * columns.length > MAX_CELLS) throw tooManyCells();
      for (const { cells, index } of columns) cells.push(record[index] ?? '');
      if (rows % ROWS_PER_REPORT === 0) await report(`Read ${formatted(rows)} rows`, parser.info.bytes / data.length);
    }
  } catch (error) {
    throw error instanceof CsvError ? malformed(error) : error;
  }
  if (columns === undefined) throw new ToolError('The data has no columns: send a CSV whose first row names them.');
  if (rows === 0) throw new ToolError('The CSV has a header but no rows below it, so there is nothing to profile.');
  return columns;
}

/** The parser reads a chunk in one go, so that a large one would keep other events waiting. */
function* chunksOf(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += CHUNK_BYTES) yield data.subarray(at, at + CHUNK_BYTES);
}

/** The candidate that splits the header line most often, outside quotes; a comma when none does. */
function guessDelimiter(data: Buffer): string {
  const [header = ''] = /[^\r\n\uFEFF]+/.exec(data.toString('utf8', 0, MAX_ROW_CHARS)) ?? [];
  const unquoted = header.replace(/"[^"]*"/g, '');
  const times = (delimiter: string): number => unquoted.split(delimiter).length;
  return [',', ';', '\t', '|'].reduce((best, next) => (times(next) > times(best) ? next : best));
}

/** The wanted columns, still empty, in the order of the header. A missing or repeated name is made up for. */
function openColumns(header: readonly string[], wanted: readonly string[] | undefined) {
  if (header.length > MAX_COLUMNS) {
    throw new ToolError(
      `The CSV has ${formatted(header.length)} columns; at most ${MAX_COLUMNS} can be profiled. ` +
        'Send fewer columns, or set `delimiter` if they were split in the wrong place.',
    );
  }
  const names: string[] = [];
  for (const [index, given] of header.entries()) {
    let name = given || `column ${index + 1}`;
    while (names.includes(name)) name += ' (2)';
    names.push(name);
  }
  const unknown = wanted?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) throw new ToolError(`No such column: ${listed(unknown)}. The CSV has: ${listed(names)}.`);
  const columns = names.map((name, index) => ({ name, index, cells: [] as string[] }));
  return columns.filter(({ name }) => wanted?.includes(name) ?? true);
}

const listed = (names: readonly string[]): string =>
  shorten(names.map((name) => JSON.stringify(name)).join(', '), 4_000);

function tooManyCells(): ToolError {
  const most = formatted(MAX_CELLS);
  return new ToolError(`More than ${most} cells: profile fewer columns at a time, named in \`columns\`.`);
}

function malformed(error: CsvError): ToolError {
  const line = typeof error.lines === 'number' ? ` near line ${formatted(error.lines)}` : '';
  const advice =
    error.code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH'
      ? 'Every row needs as many fields as the header: quote fields that contain the delimiter, or set `delimiter`.'
      : 'Put fields with quotes, delimiters or line breaks in double quotes, and double the quotes inside ("").';
  return new ToolError(`The CSV is malformed${line}: ${shorten(error.message, 300)}. ${advice}`);
}
