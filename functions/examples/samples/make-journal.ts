import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Subject, slots, subjects } from './journal-phrases.ts';

/**
 * Writes journal.txt.gz: twenty years of a lighthouse that never was, with its seasons, and with things that come and
 * go over the years. Only whole numbers and a seed, so every machine writes the same text.
 *
 *     node functions/examples/samples/make-journal.ts
 */
const FIRST_DAY = Date.UTC(1871, 0, 1);
const LAST_DAY = Date.UTC(1890, 11, 31);
const DAY_MS = 86_400_000;
const KEEPERS = ['J. Halvard', 'A. Lorne', 'P. Wick', 'M. Sand'];
const YEARS_OF_KEEPER = 5;

/** A whole number below the bound. */
type Random = (bound: number) => number;

/** Mulberry32: small, seeded, the same everywhere. */
function randomFrom(seed: number): Random {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => {
  const picked = from[random(from.length)];
  if (picked === undefined) throw new Error('There is nothing to pick from.');
  return picked;
};

function sentence({ says }: Subject, random: Random): string {
  const text = filled(pick(random, says), random);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function filled(text: string, random: Random): string {
  return text.replace(/\{(\w+)\}/g, (_slot, name: string) => filled(pick(random, slots[name] ?? []), random));
}

function isDue({ quarters, years = [0, 9_999] }: Subject, date: Date, random: Random): boolean {
  const [first, last] = years;
  const year = date.getUTCFullYear();
  // December is winter, too.
  const percent = quarters[Math.floor(((date.getUTCMonth() + 1) % 12) / 3)] ?? 0;
  return year >= first && year <= last && random(100) < percent;
}

/** One line, if there was anything to write. */
function entryOf(date: Date, random: Random): string[] {
  const sentences: string[] = [];
  for (const subject of Object.values(subjects)) {
    if (!isDue(subject, date, random)) continue;
    sentences.push(sentence(subject, random));
    const next = subject.brings === undefined ? undefined : subjects[subject.brings];
    if (next !== undefined && random(100) < 30) sentences.push(sentence(next, random));
  }
  const keeper = KEEPERS[Math.floor((date.getUTCFullYear() - 1871) / YEARS_OF_KEEPER)] ?? '';
  return sentences.length === 0 ? [] : [`${date.toISOString().slice(0, 10)} (${keeper}) ${sentences.join(' ')}`];
}

/** One entry a line: the day, who wrote it, and what. */
export function journalText(): string {
  const random = randomFrom(18_710_101);
  const lines: string[] = [];
  for (let day = FIRST_DAY; day <= LAST_DAY; day += DAY_MS) {
    const entry = entryOf(new Date(day), random);
    // Nobody writes every day.
    if (random(100) < 45) lines.push(...entry);
  }
  return `${lines.join('\n')}\n`;
}

if (import.meta.main) {
  const packed = gzipSync(journalText(), { level: 9 });
  writeFileSync(join(import.meta.dirname, 'journal.txt.gz'), packed);
  process.stdout.write(`journal.txt.gz: ${packed.length} bytes\n`);
}
