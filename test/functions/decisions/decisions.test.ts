import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Row } from '../../../functions/operator/explain/row.ts';
import { instantPauses } from '../client/instant.ts';
import { readable, rewordMessages } from './reworded.ts';

// Messages are for people: code decides by names, codes and classes.

const pauses = instantPauses();
beforeEach(() => {
  for (const level of ['error', 'warn', 'log'] as const) vi.spyOn(console, level).mockImplementation(() => {});
  vi.resetModules();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

const ROOMS = {
  'explain and rerun': () => import('./operators.ts'),
  'the sweep': () => import('./reconciler.ts'),
  'the client library': () => import('./client.ts'),
};
type Room = keyof typeof ROOMS;

/** All decisions of a room, of modules that are loaded for it. */
async function decisionsOf(room: Room): Promise<Readonly<Record<string, unknown>>> {
  const before = pauses.length;
  const { decisions } = await ROOMS[room]();
  const all = await decisions();
  vi.resetModules();
  return { ...all, pauses: pauses.slice(before) };
}

async function rewordedDecisionsOf(room: Room): Promise<unknown> {
  const reworded = await rewordMessages();
  try {
    return reworded.original(await decisionsOf(room));
  } finally {
    reworded.restore();
  }
}

test.each(Object.keys(ROOMS) as Room[])('%s: every message is a random text, all decisions stay', async (room) => {
  const expected = readable(await decisionsOf(room));
  expect(Object.keys(expected as object).length).toBeGreaterThan(400);
  expect(await rewordedDecisionsOf(room)).toEqual(expected);
});

const FUNCTIONS = '../../../functions';

/** Decisions that read a sentence: where each is planted, and what it is there. */
const BUGS: readonly (readonly [what: string, room: Room, file: string, plant: (real: never) => object])[] = [
  [
    'a row of explain that is found by a message',
    'explain and rerun',
    'operator/explain/rows.ts',
    ({ ROWS }: { ROWS: readonly Row[] }) => {
      const fits: Row['fits'] = ({ seen }) => seen?.error?.includes('could not be started') === true;
      return { ROWS: ROWS.map((row) => (row.name === 'could not be started' ? { ...row, fits } : row)) };
    },
  ],
  [
    'a rerun that goes by a message',
    'explain and rerun',
    'operator/show.ts',
    ({ readTask }: typeof import('../../../functions/operator/show.ts')) => ({
      async readTask(...given: Parameters<typeof readTask>) {
        const stored = await readTask(...given);
        return stored.statusMessage === 'The tool failed' ? { ...stored, failure: 'NotStarted' } : stored;
      },
    }),
  ],
  [
    'a sweep that goes by the message of a refused start',
    'the sweep',
    'engine/start-round.ts',
    ({ startAgain }: typeof import('../../../functions/engine/start-round.ts')) => ({
      startAgain: (...given: Parameters<typeof startAgain>) =>
        startAgain(...given).catch((error: Error) => {
          if (error.message.startsWith('Too many tasks')) return 'gone';
          throw error;
        }),
    }),
  ],
  [
    'a client that goes by the message of an error',
    'the client library',
    'client/persist.ts',
    ({ persist }: typeof import('../../../functions/client/persist.ts')) => ({
      persist: (work: () => Promise<unknown>, signal: AbortSignal) =>
        persist(work, signal).catch((error: Error) => {
          if (/try again/.test(error.message)) return work();
          throw error;
        }),
    }),
  ],
];

test.each(BUGS)('a planted bug is found: %s', async (_what, room, file, plant) => {
  const path = `${FUNCTIONS}/${file}`;
  vi.doMock(path, async (original) => {
    const real = await original<object>();
    return { ...real, ...plant(real as never) };
  });
  try {
    const expected = readable(await decisionsOf(room));
    expect(await rewordedDecisionsOf(room)).not.toEqual(expected);
  } finally {
    vi.doUnmock(path);
  }
});
