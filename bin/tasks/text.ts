/** `3 m 20 s`, for people. */
export function span(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  const [d, h, m, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  const parts = [d && `${d} d`, h && `${h} h`, m && `${m} m`, s && `${s} s`].filter(Boolean);
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** With milliseconds, and no date. */
export const clock = (at: number): string => new Date(at).toISOString().slice(11, 23);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it finds.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Without control characters but newline and tab, as a tool or a client may have written some. JSON has them escaped. */
export const printable = (text: string, json: boolean): string =>
  text.replace(CONTROLS, (c) => (json ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : ''));

/** Columns with two blanks between them. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `name      value`, without those that have none. */
export function fields(all: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return table(given.map(([name, value]) => [`  ${name}`, value]));
}

/** Indented JSON. */
export const pretty = (value: unknown, indent: string): string =>
  JSON.stringify(value, undefined, 2).replace(/^/gm, indent);
