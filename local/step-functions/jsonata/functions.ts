import { createHash } from 'node:crypto';
import jsonata from 'jsonata';
import type { Random } from '../random.ts';

type JsonataFunction = (...values: unknown[]) => unknown;

const HASHES = new Map([
  ['MD5', 'md5'],
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);
const LONGEST_RANGE = 1000;

function integer(value: unknown, what: string): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new Error(`${what} must be an integer`);
}

function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`${what} must be a string`);
}

function parse(json: unknown): unknown {
  return json === undefined ? undefined : JSON.parse(text(json, 'The argument of $parse'));
}

function hash(value: unknown, algorithm: unknown): string | undefined {
  if (value === undefined) return undefined;
  const name = HASHES.get(text(algorithm, 'The algorithm of $hash'));
  if (name === undefined) throw new Error(`$hash knows ${[...HASHES.keys()].join(', ')}`);
  return createHash(name).update(text(value, 'The first argument of $hash')).digest('hex');
}

function range(first: unknown, last: unknown, step: unknown): number[] {
  const from = integer(first, 'The first argument of $range');
  const to = integer(last, 'The second argument of $range');
  const by = integer(step, 'The step of $range');
  if (by === 0) throw new Error('The step of $range must not be 0');
  const length = Math.max(0, Math.floor((to - from) / by) + 1);
  if (length > LONGEST_RANGE) throw new Error(`$range makes at most ${LONGEST_RANGE} items`);
  return Array.from({ length }, (_, index) => from + index * by);
}

function partition(items: unknown, size: unknown): unknown[][] | undefined {
  if (items === undefined) return undefined;
  if (!Array.isArray(items)) throw new Error('The first argument of $partition must be an array');
  const chunk = integer(size, 'The chunk size of $partition');
  if (chunk < 1) throw new Error('The chunk size of $partition must be above 0');
  const length = Math.ceil(items.length / chunk);
  return Array.from({ length }, (_, index) => items.slice(index * chunk, (index + 1) * chunk));
}

/** Gives the same number for the same seed. AWS does, too, but its numbers are others. */
function seeded(seed: unknown): number {
  let state = (integer(seed, 'The seed of $random') + 0x6d2b79f5) | 0;
  state = Math.imul(state ^ (state >>> 15), state | 1);
  state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
  return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
}

function shuffle(items: unknown, random: Random): unknown[] | undefined {
  if (items === undefined) return undefined;
  const left = Array.isArray(items) ? [...items] : [items];
  return Array.from(left, () => left.splice(Math.floor(random.number() * left.length), 1)[0]);
}

const fixed: Record<string, JsonataFunction> = { parse, hash, range, partition };
const format = jsonata('$fromMillis($at, $picture, $timezone)');

/** The functions that Step Functions adds to JSONata, and deterministic ones in place of JSONata's own. */
export function awsFunctions(now: number, random: Random): Record<string, JsonataFunction> {
  return {
    ...fixed,
    millis: () => now,
    now: (picture, timezone) => format.evaluate(undefined, { at: now, picture, timezone }),
    random: (seed) => (seed === undefined ? random.number() : seeded(seed)),
    uuid: () => random.uuid(),
    shuffle: (items) => shuffle(items, random),
  };
}

/** All function names that an expression may use: jsonata 2.0.6 without $eval, which AWS refuses, and AWS's own. */
export const FUNCTION_NAMES: ReadonlySet<string> = new Set(
  `sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match
  contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power
  random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each error assert
  type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent decodeUrl toMillis
  fromMillis clone now millis parse hash range partition uuid`.split(/\s+/),
);
