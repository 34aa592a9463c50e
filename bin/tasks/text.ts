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

/** A time with milliseconds, without its date. */
export const clock = (at: number): string => new Date(at).toISOString().slice(11, 23);

// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters.
const COLOUR = /\u001b\[[\d;]*m/g;
/** Characters that do not show: controls, changes of direction, signs without width or ink (an empty Braille cell, a null notehead). */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;
/** Characters that end a line, or move the cursor in it. */
const BREAKS = /[\t-\r\u0085\u2028\u2029]+/g;

/** Makes a text that a tool or a client may have written safe for a terminal: only `\n` and `\t` stay of what does not show. */
export const printable = (text: string): string =>
  text.replace(COLOUR, '').replace(UNSEEN, (unseen) => (unseen === '\n' || unseen === '\t' ? unseen : ''));

/** Does the same, on one line: no value can pass for a line of the command. */
export const oneLine = (text: string): string => printable(text.replace(BREAKS, ' '));

/** Escapes characters that do not show, such as `\u001b`, in JSON. Line breaks between values stay. */
export const printableJson = (json: string): string =>
  json.replace(UNSEEN, (unseen) =>
    unseen === '\n'
      ? unseen
      : [...Array(unseen.length).keys()]
          .map((i) => `\\u${unseen.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join(''),
  );

/** Columns with two blanks between them, one line for each row. */
export function table(all: readonly (readonly string[])[]): string {
  const rows = all.map((row) => row.map(oneLine));
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

/** Lines of `name      value`, without names that have no value. */
export function fields(all: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return table(given.map(([name, value]) => [`  ${name}`, value]));
}

/** Indented JSON, with escapes for characters that do not show. */
export const pretty = (value: unknown, indent: string): string =>
  printableJson(JSON.stringify(value, undefined, 2)).replace(/^/gm, indent);
