import { readFileSync } from 'node:fs';

export interface Requirement {
  readonly id: string;
  readonly section: string;
  readonly level: string;
  readonly text: string;
  /** Its weight in the verdict. Rows that leave a choice, and sections that are only cited, have none. */
  readonly weight: Weight | undefined;
}

export type Weight = 'MUST' | 'SHOULD';

/** The sections that must be proven; G and H are optional as a whole, X says how contradictions were resolved. */
export const SECTIONS = ['A', 'B', 'C', 'D', 'E', 'F'] as const;

export const readTable = (): readonly Requirement[] =>
  parseTable(readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8'));

/** Every row of a Markdown text that begins with an id; throws on an id that comes twice. */
export function parseTable(markdown: string): readonly Requirement[] {
  const rows = [...markdown.matchAll(/^\| ([A-Z]-[0-9]{2}) \| (.*?) \| (.*?) \|/gm)].map(([, id = '', second, third]) =>
    // The X rows have a topic in the place of a level.
    requirement(id, id.startsWith('X') ? '' : (second ?? ''), id.startsWith('X') ? (second ?? '') : (third ?? '')),
  );
  const twice = rows.find(({ id }, index) => rows.findIndex((row) => row.id === id) !== index);
  if (twice !== undefined) throw new Error(`docs/protocol.md has ${twice.id} twice`);
  return rows;
}

function requirement(id: string, level: string, text: string): Requirement {
  const section = id.slice(0, 1);
  const counted = SECTIONS.some((name) => name === section);
  return { id, section, level, text, weight: counted ? weightOf(level) : undefined };
}

function weightOf(level: string): Weight | undefined {
  if (/^(DEC )?MUST( NOT)?$/.test(level)) return 'MUST';
  if (/^SHOULD( NOT)?$/.test(level)) return 'SHOULD';
  if (/^(MAY|DEC)$/.test(level)) return undefined;
  throw new Error(`docs/protocol.md has an unknown level: ${level}`);
}
