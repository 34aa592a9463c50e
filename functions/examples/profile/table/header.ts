import { ToolError } from 'mcp-task-server/tool';
import { count, shorten } from '../words.ts';

export const MAX_COLUMNS = 200;

/** One column to read: its name and where it stands in a record. */
export interface Field {
  readonly name: string;
  readonly index: number;
}

/** Names the columns of the header and keeps the wanted ones, in the order of the header. */
export function pickFields(header: readonly string[], wanted: readonly string[] | undefined): Field[] {
  if (header.length > MAX_COLUMNS) {
    throw new ToolError(
      `The CSV has ${count(header.length)} columns; at most ${MAX_COLUMNS} can be profiled. ` +
        'Send fewer columns, or set `delimiter` if they were split in the wrong place.',
    );
  }
  const fields = uniqueNames(header).map((name, index) => ({ name, index }));
  if (wanted === undefined) return fields;
  refuseUnknown(fields, wanted);
  if (wanted.length === 0) throw new ToolError('`columns` is empty: name at least one column, or leave it out.');
  return fields.filter(({ name }) => wanted.includes(name));
}

function refuseUnknown(fields: readonly Field[], wanted: readonly string[]): void {
  const unknown = wanted.filter((name) => !fields.some((field) => field.name === name));
  if (unknown.length === 0) return;
  throw new ToolError(`No such column: ${listed(unknown)}. The CSV has: ${listed(fields.map(({ name }) => name))}.`);
}

/** Unnamed columns are named by position and repeated names are numbered, so that each can be told apart. */
function uniqueNames(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((raw, index) => {
    const base = raw.trim() === '' ? `column ${index + 1}` : raw.trim();
    let name = base;
    for (let copy = 2; taken.has(name); copy += 1) name = `${base} (${copy})`;
    taken.add(name);
    return name;
  });
}

const LISTED = 50;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).map((name) => JSON.stringify(shorten(name, 80)));
  return shown.join(', ') + (names.length > LISTED ? `, and ${names.length - LISTED} more` : '');
}
