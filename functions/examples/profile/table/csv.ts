import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ToolError } from 'mcp-task-server/tool';
import { count } from '../words.ts';

const MAX_RECORD_CHARS = 1_000_000;
const CHUNK_BYTES = 65_536;
const DELIMITERS = [',', ';', '\t', '|'];

/** The records of a CSV, header first, parsed chunk by chunk with a pause after each. */
export async function* records(
  data: Buffer,
  pause: () => Promise<void>,
  delimiter = guessDelimiter(data),
): AsyncGenerator<string[]> {
  if (!isUtf8(data)) throw new ToolError('The data is not UTF-8 text. Save it as CSV in UTF-8 and try again.');
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARS,
  });
  // What goes wrong is thrown by the parser, which is read below.
  pipeline(Readable.from(chunks(data, pause)), parser, () => {});
  try {
    for await (const record of parser) yield record as string[];
  } catch (error) {
    throw error instanceof CsvError ? explained(error) : error;
  }
}

async function* chunks(data: Buffer, pause: () => Promise<void>): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += CHUNK_BYTES) {
    yield data.subarray(at, at + CHUNK_BYTES);
    await pause();
  }
}

function explained(error: CsvError): ToolError {
  const line = typeof error.lines === 'number' ? ` near line ${count(error.lines)}` : '';
  const advice =
    error.code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH'
      ? 'Every row needs as many fields as the header: quote fields that contain the delimiter, or set `delimiter`.'
      : 'Put fields with quotes, delimiters or line breaks in double quotes, and double the quotes inside ("").';
  return new ToolError(`The CSV is malformed${line}: ${error.message.slice(0, 300)}. ${advice}`);
}

/** The candidate that splits the header line most often, outside quotes; a comma when none does. */
export function guessDelimiter(data: Buffer): string {
  const head = data.toString('utf8', 0, CHUNK_BYTES).replace(/^\uFEFF?[\r\n]*/, '');
  const line = (/^[^\r\n]*/.exec(head)?.[0] ?? '').replace(/"[^"]*"/g, '');
  const times = (delimiter: string): number => line.split(delimiter).length;
  return DELIMITERS.reduce((best, next) => (times(next) > times(best) ? next : best));
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const QUOTE = 34;

/** How many records there are, by a quick look at line ends outside quotes: what progress counts towards. */
export function countRecords(data: Buffer): number {
  let count = 0;
  let quoted = false;
  let empty = true;
  for (let at = 0; at < data.length; at += 1) {
    const byte = data[at];
    if (byte === QUOTE) quoted = !quoted;
    const ends = !quoted && (byte === LINE_FEED || byte === CARRIAGE_RETURN);
    if (ends && !empty) count += 1;
    empty = ends;
  }
  return empty ? count : count + 1;
}
