import { expect, test } from 'vitest';
import { end } from '../../../functions/engine/end.ts';
import type { EngineContext } from '../../../functions/engine/ports.ts';
import { startIfCrashed } from '../../../functions/engine/resume.ts';
import { signal } from '../../../functions/engine/signal.ts';
import { repeatFirst, startFirst } from '../../../functions/engine/start-round.ts';
import { type ReconcilerContext, reconcile } from '../../../functions/reconciler/reconcile.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { after, type Change, isTerminal } from '../../../functions/tasks/transitions/change.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { TABLE } from '../../support/engine/memory.ts';
import { fakeContext, key, MINUTE, record } from '../reconciler/fake-context.ts';

type Context = ReconcilerContext & EngineContext;
type Starter = (context: Context) => Promise<unknown>;

/** Where a schedule is not fair: how often a process dies at a call, and how often Step Functions refuses a stop. */
interface Faults {
  readonly dies: number;
  readonly refuses: number;
}

const asks = JSON.stringify({ inputRequests: { a: { method: 'roots/list' } } });
const answer = (responses: Record<string, unknown>, context: Context) =>
  signal(
    {
      read: () => context.store.get(key),
      responses: () => responses,
      invalid: 'refuse',
      sleep: async () => {},
    },
    context,
  );
const poll: Starter = async (context) => {
  const seen = await context.store.get(key);
  if (seen !== undefined) await startIfCrashed([seen], context);
};
const sweeps: Starter = (context) => reconcile(key, true, context);
const answers: Starter = (context) => answer({ 'r1.a': { roots: [] } }, context);

const link = { waits: JSON.stringify({ boss: { kind: 'link', until: Number.MAX_SAFE_INTEGER } }), signalled: ['boss'] };
const KINDS: readonly (readonly [string, Partial<TaskRecord>, number, readonly Starter[]])[] = [
  [
    'begins',
    {},
    0,
    [(context) => startFirst(record(), '{}', context), (context) => repeatFirst(record(), '{}', context)],
  ],
  ['asks', { status: 'input_required', asked: asks, arguments: '{}' }, MINUTE, [answers, answers]],
  ['waits', { status: 'waiting', arguments: '{}', ...link }, MINUTE, [sweeps, poll, sweeps]],
  [
    'was answered, and not started',
    { round: 2, arguments: '{}' },
    MINUTE,
    [poll, sweeps, (context) => answer({}, context)],
  ],
];

/** Numbers from 0 to below 1, the same for a seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs starters of a task and one cancel of it in a random order of all their calls, then sweeps. Returns what still runs. */
async function schedule(seed: number, { dies, refuses }: Faults): Promise<string | undefined> {
  const next = numbers(seed);
  const [title, over, age, starters] = KINDS[Math.floor(next() * KINDS.length)] ?? KINDS[0] ?? [];
  if (title === undefined || starters === undefined) throw new Error('no kind');
  const fake = fakeContext([record(over)]);
  fake.clock.now += age ?? 0;
  const gates: (() => void)[] = [];
  let isFair = false;

  /** A process: each of its calls waits for its turn, before it is made and before it is answered. */
  const process = (): Context => {
    let isDead = false;
    const turn = async () => {
      if (isFair) return;
      await new Promise<void>((resolve) => gates.push(resolve));
      isDead ||= next() < dies;
      if (isDead) await new Promise(() => {});
    };
    const inTurn =
      <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>, mayRefuse = false) =>
      async (...given: Given): Promise<Answer> => {
        await turn();
        if (mayRefuse && !isFair && next() < refuses) {
          throw Object.assign(new Error('full'), { name: 'ThrottlingException' });
        }
        const settled = await Promise.allSettled([call(...given)]);
        await turn();
        const [done] = settled;
        if (done.status === 'rejected') throw done.reason;
        return done.value;
      };
    const store = taskStore(fake.dynamoDb, TABLE);
    const { workflow, describe } = fake.context;
    return {
      ...fake.context,
      store: {
        ...store,
        get: inTurn(store.get),
        apply: inTurn(store.apply),
        applyBlind: inTurn(store.applyBlind),
      },
      workflow: { start: inTurn(workflow.start), stop: inTurn(workflow.stop, true) },
      describe: inTurn(describe),
      log: () => {},
    };
  };
  /** A client reads what its write has made, an operator does not. */
  const cancels: Starter = async (context) => {
    const { store } = context;
    const apply = async (seen: TaskRecord, change: Change) =>
      (await store.applyBlind(seen, change)) ? after(seen, change) : undefined;
    const read = async () => (await store.get(key)) ?? Promise.reject(new Error('gone'));
    const writes = next() < 0.5 ? context : { ...context, store: { ...store, apply } };
    await end(await read(), cancel(context.now()), read, writes);
  };
  for (const act of [...starters.filter((_, i) => i === 0 || next() < 0.6), cancels]) {
    act(process()).catch(() => undefined);
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  for (let calm = 0; calm < 3; ) {
    await settle();
    const [go] = gates.splice(Math.floor(next() * gates.length), 1);
    calm = go === undefined ? calm + 1 : 0;
    go?.();
  }
  isFair = true;
  const sweep = process();
  for (let minutes = 0; minutes < 8; minutes++) {
    fake.clock.now += MINUTE;
    await reconcile(key, true, sweep).catch(() => undefined);
  }
  const { status = 'working', due } = fake.records.get(key.taskId) ?? {};
  const runs = fake.executions.all().filter((run) => run.status === 'RUNNING');
  if (!isTerminal(status) || (runs.length === 0 && due === undefined)) return undefined;
  return `seed ${seed}: a task that ${title} is ${status}, ${runs.length} runs go on, due ${due}`;
}

test.each<[string, Faults]>([
  ['in any order', { dies: 0, refuses: 0 }],
  ['if stops are refused', { dies: 0, refuses: 0.5 }],
  ['if processes die', { dies: 0.06, refuses: 0.2 }],
])('a cancel and starts %s: no run of an ended task goes on (rows 14 to 16)', async (_title, faults) => {
  const left: string[] = [];
  for (let seed = 1; seed <= 400; seed++) left.push(...[(await schedule(seed, faults)) ?? []].flat());
  expect(left).toEqual([]);
});
