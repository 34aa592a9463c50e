import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { roundInput } from '../../../functions/tasks/round-input.ts';
import type { TaskStore } from '../../../functions/tasks/table/store.ts';
import { talks, waits } from './scenario.ts';
import { of, writing } from './seeding.ts';
import type { Parts } from './simulation/simulation.ts';
import { WAIT_BROKEN, WAIT_BUGS } from './wait-bugs.ts';

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const;

const TALK_BUGS = {
  'a repeated StartExecution starts a second run': { namesAreUnique: false },
  'Finish is unconditional': {
    definition: finishing(
      '(#status = :working AND #round = :inRound AND #deadlineAt >= :latest) OR attribute_exists(taskId)',
    ),
  },
  'Finish does not check the round': {
    definition: finishing(
      '#status = :working AND #deadlineAt >= :latest AND (#round = :inRound OR attribute_exists(taskId))',
    ),
  },
  'Finish does not check the clock': {
    definition: finishing(
      '#status = :working AND #round = :inRound AND (#deadlineAt >= :latest OR attribute_exists(taskId))',
    ),
  },
  'no sweep': { sweeps: false },
  'the sweep takes every round for one that runs': of('reconciler', (real) => ({
    ...real,
    describe: async () => ({ status: 'RUNNING' }),
  })),
  'the sweep starts a first round that was never started': of('reconciler', (real) => ({
    ...real,
    store: {
      ...real.store,
      async applyBlind(key, change) {
        if (change.set.failure !== 'NotStarted') return real.store.applyBlind(key, change);
        const record = key as TaskRecord;
        await real.workflow.start(record, roundInput(record, '{"plan":0}') ?? '');
        return true;
      },
    },
  })),
  'a refused start counts as the only one sent': of('endpoint', (real) => ({
    ...real,
    workflow: {
      ...real.workflow,
      start: (...round) =>
        real.workflow.start(...round).catch((error: unknown) => {
          throw error instanceof TooManyStarts ? new TooManyStarts(true) : error;
        }),
    },
  })),
  'the sweep does not start an answered round again': of('reconciler', (real) => ({
    ...real,
    workflow: { ...real.workflow, start: async () => {} },
  })),
  'the reconciler writes without a condition': of('reconciler', (real) =>
    writing(real, ({ round: _, ...change }) => ({ ...change, from: STATUSES })),
  ),
  'an answer does not check what was answered since': of('endpoint', (real) =>
    writing(real, ({ answerCount: _, ...change }) => change),
  ),
  'a cancel stops the work before it fences the record': of('endpoint', (real) => ({
    ...real,
    store: {
      ...real.store,
      async apply(key, change) {
        const record = key as TaskRecord;
        if (change.set.status === 'cancelled') await real.workflow.stop(record).catch(() => {});
        return real.store.apply(key, change);
      },
    },
  })),
  'a cancel does not stop the work': of('endpoint', (real) => ({
    ...real,
    workflow: { ...real.workflow, stop: async () => {} },
  })),
  'the sweep does not stop the run of a task that has ended': of('endpoint', (real) =>
    writing(real, (change) => {
      const { dueAt: _, ...set } = change.set;
      const ends = set.status === 'cancelled' || set.status === 'failed';
      return ends
        ? { ...change, set, remove: [...new Set([...(change.remove ?? []), 'due', 'dueAt'] as const)] }
        : change;
    }),
  ),
  'a cancel overwrites what has ended': of('endpoint', (real) =>
    writing(real, (change) => (change.set.status === 'cancelled' ? { ...change, from: STATUSES } : change)),
  ),
  'readers do not check the deadline': of('endpoint', (real) => ({
    ...real,
    store: {
      ...real.store,
      async get(...asked) {
        const record = await real.store.get(...asked);
        return record && { ...record, deadlineAt: Number.MAX_SAFE_INTEGER };
      },
    },
  })),
  'a repeated create overwrites the task': {
    table: (real) => ({ ...real, put: ({ Item }) => real.put({ Item }) }),
  },
  'a stream reads its tasks only once': of('endpoint', (real) => {
    let first: ReturnType<TaskStore['getMany']> | undefined;
    const getMany: TaskStore['getMany'] = (keys) => (first ??= real.store.getMany(keys));
    return { ...real, store: { ...real.store, getMany, readMany: getMany } };
  }),
  'a slot is taken whether there is one or not': of('endpoint', (real) => ({
    ...real,
    store: { ...real.store, takeSlot: async () => true },
  })),
} as const satisfies Record<string, Partial<Parts>>;

const TALK_BROKEN: Readonly<Record<keyof typeof TALK_BUGS, RegExp>> = {
  'a repeated StartExecution starts a second run': /^A round is started once/,
  'Finish is unconditional':
    /^A task that has ended is never written again|^Questions are|^An unfinished task|comes too late/,
  'Finish does not check the round': /^Questions are what the tool of this round|^A result is what/,
  'Finish does not check the clock': /^What comes too late is not written/,
  'no sweep': /^Long after its deadline|^Nothing goes on/,
  'the sweep takes every round for one that runs': /^Nothing goes on/,
  'the sweep starts a first round that was never started': /^A first round is started soon or never/,
  'a refused start counts as the only one sent': /^A failure has happened/,
  'the sweep does not start an answered round again': /^Nothing goes on/,
  'the reconciler writes without a condition':
    /^A task that has ended is never written again|^A failure has|^What a running task needs/,
  'an answer does not check what was answered since': /^A task that waits for input asks|^An answer that was taken/,
  'a cancel stops the work before it fences the record': /^Work is stopped that somebody waits for/,
  'a cancel does not stop the work': /^Work goes on for no task/,
  'the sweep does not stop the run of a task that has ended': /^Work goes on for no task/,
  'a cancel overwrites what has ended': /^A task that has ended is never written again/,
  'readers do not check the deadline':
    /^A task is over by its deadline|^An unfinished task is in the index|^What comes too late|stays as it was/,
  'a repeated create overwrites the task':
    /^What a task is stays|^A task that has ended is never|^A status moves|^A round (begins|is started before)/,
  'a stream reads its tasks only once': /^A stream shows an end|stays as it was/,
  'a slot is taken whether there is one or not': /^An owner has 3 open tasks/,
};

/**
 * Mistakes that would lose, double, overwrite or hold up tasks. The model has to notice each of them: what it would not
 * notice, it does not prove.
 */
export const BUGS = { ...TALK_BUGS, ...WAIT_BUGS };
export type Bug = keyof typeof BUGS;

/** The rules that each breaks; which one first depends on the run. */
export const BROKEN: Readonly<Record<Bug, RegExp>> = { ...TALK_BROKEN, ...WAIT_BROKEN };

/** The scenarios that show it soon. */
export const scenariosFor = (bug: Bug): typeof talks => (Object.hasOwn(WAIT_BUGS, bug) ? waits : talks);

/** Finish with another condition. All names and values must be used. */
function finishing(condition: string): Parts['definition'] {
  return (text) => text.replace(/"ConditionExpression":"[^"]*"/, `"ConditionExpression":"${condition}"`);
}
