import type { Random } from '../generate/random.ts';
import type { Calls } from '../generate/requests.ts';

/** Arguments for the tools of `test/support/apps/slow-schema-app.ts`: checked at once, or in years. */
const ARGUMENTS: Readonly<Record<string, { readonly fine: object; readonly slow: (random: Random) => object }>> = {
  slug: { fine: { slug: 'a-b' }, slow: (random) => ({ slug: `${endless('a', random)}!` }) },
  rows: { fine: { rows: [{ n: 1 }, 2] }, slow: () => ({ rows: list(14_000, (n) => ({ n })) }) },
  keys: { fine: { aaa: 1 }, slow: (random) => ({ [`${endless('a', random)}!`]: 1 }) },
  names: { fine: { some: 1 }, slow: (random) => ({ [`${endless('w', random)}!`]: 1 }) },
  tree: { fine: {}, slow: (random) => ({ tree: nested(35 + random.int(20)) }) },
  choices: {
    fine: { list: [{ kind: 'choice', of: { n: 1, more: [1, 'x'] } }] },
    slow: () => ({ list: list(2_500, (n) => ({ kind: 'choice', of: { n: n % 2_000, more: [n % 2_000, 'y'] } })) }),
  },
  words: { fine: { text: 'ab' }, slow: () => ({ text: 'ab'.repeat(20_000) }) },
  found: { fine: { list: ['xxy'] }, slow: (random) => ({ list: [endless('x', random)] }) },
  promises_slug: { fine: { slug: 'a' }, slow: (random) => ({ slug: `${endless('a', random)}!` }) },
  promises_tree: { fine: {}, slow: (random) => ({ tree: nested(35 + random.int(20)) }) },
};
const PROMISES = ['promises_slug', 'promises_tree'];
const OTHERS = Object.keys(ARGUMENTS).filter((name) => !PROMISES.includes(name));

const endless = (character: string, random: Random) => character.repeat(40 + random.int(40));
const list = <T>(length: number, of: (n: number) => T): T[] => Array.from({ length }, (_, n) => of(n));
const nested = (depth: number): object => (depth === 0 ? {} : { next: nested(depth - 1) });

/** Mostly calls that are fine: each slow one takes a second, and a slow result takes one each time it is read. */
export const slowCalls: Calls = (random) => {
  if (random.chance(0.2)) return { name: 'echo', arguments: { a: 1 } };
  const name = random.pick(random.chance(0.2) ? PROMISES : OTHERS);
  const slow = random.chance(PROMISES.includes(name) ? 0.1 : 0.2);
  const { fine, slow: slowArguments } = ARGUMENTS[name] ?? { fine: {}, slow: () => ({}) };
  return { name, arguments: slow ? slowArguments(random) : fine };
};

/** One call of each tool with arguments that are slow. */
export const slowCallsOf = (random: Random): { name: string; arguments: object }[] =>
  Object.entries(ARGUMENTS).map(([name, { slow }]) => ({ name, arguments: slow(random) }));
