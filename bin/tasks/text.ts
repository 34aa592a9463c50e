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

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what it finds.
const COLOUR = /\u001b\[[\d;]*m/g;
/** Controls, what turns the direction of text or takes no room, and signs without ink (an empty Braille cell, a null notehead). */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;
/** What ends a line, or moves in it. */
const BREAKS = /[\t-\r\u0085\u2028\u2029]+/g;

/** A text that a tool or a client may have written, for a terminal. Of the characters without a sign, `\n` and `\t` stay. */
export const printable = (text: string): string =>
  text.replace(COLOUR, '').replace(UNSEEN, (unseen) => (unseen === '\n' || unseen === '\t' ? unseen : ''));

/** The same, without line breaks: no value looks like a line of the command. */
export const oneLine = (text: string): string => printable(text.replace(BREAKS, ' '));

/** JSON that says the same, with characters that have no sign as `\u001b`. Line breaks between its values stay. */
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

/** `name      value`, without those that have none. */
export function fields(all: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return table(given.map(([name, value]) => [`  ${name}`, value]));
}

/** Indented JSON, with what has no sign as `\u001b`. */
export const pretty = (value: unknown, indent: string): string =>
  printableJson(JSON.stringify(value, undefined, 2)).replace(/^/gm, indent);
