import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { TaskStore } from '../../../functions/tasks/table/store.ts';
import type { Change } from '../../../functions/tasks/transitions/change.ts';
import { timedOut } from '../../../functions/tasks/transitions/waits.ts';
import { of, writing } from './seeding.ts';
import type { Parts, Services } from './simulation/simulation.ts';

/** Mistakes with waits and signals: see `bugs.ts`. */
export const WAIT_BUGS = {
  'a poll takes a sleep for over': of('endpoint', withoutTime),
  'the sweep does not begin what has waited': of('reconciler', (real) => ({
    ...real,
    store: {
      ...real.store,
      applyBlind: async (key, change) => !begins(change) && real.store.applyBlind(key, change),
    },
  })),
  'a round begins without a check of what has come since': of('reconciler', (real) =>
    writing(real, (change) => (begins(change) ? withoutCount(change) : change)),
  ),
  'a round begins without its time-outs': of('reconciler', (real) =>
    writing(real, (change) => {
      const { inputResponses: _, ...set } = change.set;
      return begins(change) ? { ...change, set } : change;
    }),
  ),
  'a round that has more to do waits for its deadline': {
    definition: (text) => text.replace('$ceil($min($append(', '$ceil($max($append('),
  },
  'an early signal does not call the sweep': of('signals', (real) =>
    writing(real, ({ set: { early: _, ...set }, ...change }) => ({ ...change, set })),
  ),
  'a person or system does not check who was first': of('signals', (real) => writing(real, withoutCount)),
  'an operator does not check who was first': of('operator', (real) => writing(real, withoutCount)),
  'a signal replaces a time-out': of('signals', (real) =>
    writing(real, ({ answerCount: _, round: __, ...change }) => ({ ...change, from: ['working', 'waiting'] })),
  ),
  'a round begins without what its tool has kept': of('reconciler', (real) =>
    writing(real, (change) => (begins(change) ? { ...change, remove: [...(change.remove ?? []), 'asked'] } : change)),
  ),
  'the first wait that is over ends the others': of('reconciler', (real) => ({
    ...real,
    store: {
      ...real.store,
      applyBlind: async (key, change) =>
        real.store.applyBlind(key, begins(change) ? withAllOver(key as TaskRecord, change) : change),
    },
  })),
  'a signal is acknowledged before it is stored': of('signals', (real) => ({
    ...real,
    store: {
      ...real.store,
      async applyBlind(key, change) {
        await real.store.applyBlind(key, change).catch(() => {});
        return true;
      },
    },
  })),
} as const satisfies Record<string, Partial<Parts>>;

export const WAIT_BROKEN: Readonly<Record<keyof typeof WAIT_BUGS, RegExp>> = {
  'a poll takes a sleep for over': /^A round begins when one|^No wait is over before its time/,
  'the sweep does not begin what has waited': /^A wake-up comes in time/,
  'a round begins without a check of what has come since': /^The first signal counts, once/,
  'a round begins without its time-outs': /^A round begins when one/,
  'a round that has more to do waits for its deadline': /^The sweep comes when a wait is over/,
  'an early signal does not call the sweep': /^The sweep comes when a wait is over/,
  'a person or system does not check who was first': /^The first signal counts, once|^An answer that was taken/,
  'an operator does not check who was first': /^The first signal counts, once|^An answer that was taken/,
  'a signal replaces a time-out': /^The first signal counts, once|^An answer that was taken|^A run gets what came/,
  'a round begins without what its tool has kept': /^A race ends the same in each run/,
  'the first wait that is over ends the others': /^No wait is over before its time/,
  'a signal is acknowledged before it is stored': /^A signal that was acknowledged counts/,
};

/** Not the condition that nothing has come meanwhile. */
const withoutCount = ({ answerCount: _, ...change }: Change): Change => change;

const begins = ({ event }: Pick<Change, 'event'>): boolean => event?.what === 'resumed';

/** As if all that the record waits for were over. */
function withAllOver(record: TaskRecord, { set, ...change }: Change): Change {
  const inputResponses = { ...set.inputResponses, ...timedOut(record, Number.POSITIVE_INFINITY) };
  return { ...change, set: { ...set, inputResponses } };
}

/** Reads every wait as if its time had come. */
function withoutTime(real: Services): Services {
  const get: TaskStore['get'] = async (...asked) => {
    const record = await real.store.get(...asked);
    return record?.waits === undefined
      ? record
      : { ...record, waits: record.waits.replaceAll(/"until":\d+/g, '"until":0') };
  };
  return { ...real, store: { ...real.store, get } };
}
