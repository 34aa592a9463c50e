import { receiveSignal } from '../../../functions/engine/receive.ts';
import { reconcile } from '../../../functions/reconciler/reconcile.ts';
import type { Engine } from '../../../functions/tasks/engines.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { RoundInput } from '../../../functions/tasks/round-input.ts';
import type { Signal, Wait } from '../../../functions/tasks/tool-contract.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import type { Change } from '../../../functions/tasks/transitions/change.ts';
import { finish } from '../../../functions/tasks/transitions/end.ts';
import { isOver } from '../../../functions/tasks/waits/waits.ts';
import { createRandom } from '../../../local/testing.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { Killed, memoryEngine } from '../../support/engine/memory.ts';

const T0 = 1_700_000_000_000;
const MINUTE = 60_000;
const GROUPS = 2;

/** What a schedule breaks on purpose. */
export type Bug = 'no count' | 'no early';

/**
 * One task that waits twice, each time for several things of random kinds. People and systems send signals early, late, twice and several at once; each
 * process may die at each of its calls; the request of the stream may be lost. Returns what is wrong at the end.
 */
export async function runSchedule(seed: number, bug?: Bug, on: Engine = 'standard'): Promise<string[]> {
  const random = createRandom(`signals ${seed}`);
  const upTo = (most: number) => Math.floor(random.number() * (most + 1));
  const chance = (share: number) => random.number() < share;
  const dies = chance(0.5) ? 0.08 : 0;
  let now = T0;
  let calm = false;
  const engine = memoryEngine(() => now);
  const times = { ttl: 400 * MINUTE, timeout: 300 * MINUTE };
  const task = { tool: 'x', ...times, accepts: [], legacy: false, hookKey: 'k', engine: on };
  const made = create(newTaskKey({ kind: 'anonymous' }, T0), task, T0);
  engine.records.set(made);
  const wrong: string[] = [];
  const stored = () => engine.records.get(made.taskId) as TaskRecord;

  // Every call waits until the schedule lets it happen: so all orders of calls may come.
  const gates: (() => void)[] = [];
  const step = async <T>(call: () => Promise<T>): Promise<T> => {
    await new Promise<void>((open) => gates.push(open));
    if (!calm && chance(dies)) throw new Killed();
    const answer = await call();
    if (!calm && chance(dies)) throw new Killed();
    return answer;
  };
  const broken = (change: Change): Change => {
    if (bug !== 'no count' || (change.event?.what !== 'resumed' && change.event?.what !== 'signalled')) return change;
    const { answerCount: _, inputRef: _i, ...rest } = change;
    return rest;
  };
  const store: typeof engine.store = {
    ...engine.store,
    get: (key) => step(() => engine.store.get(key)),
    apply: (key, change) => step(() => engine.store.apply(key, broken(change))),
    applyBlind: (key, change) => step(() => engine.store.applyBlind(key, broken(change))),
  };
  const context = {
    ...engine,
    store,
    results: engine.objects,
    workflow: {
      ...engine.workflow,
      start: (record: TaskRecord, input: string) =>
        step(async () => {
          const started = await engine.workflow.start(record, input);
          if (started === 'taken') wrong.push(`round ${record.round} was started with another input`);
          return started;
        }),
    },
    describe: (arn: string) => step(() => engine.describe(arn)),
    toolEngine: () => on,
    repeatable: new Set(on === 'express' ? ['x'] : []),
    stateMachines: new Map<string, string>(),
    machineArnPrefix: MACHINES,
    log: () => {},
    now: () => now,
    sleep: async () => {},
  };
  const spawn = (work: () => Promise<unknown>) => {
    void work().catch((error: unknown) => {
      if (!(error instanceof Killed)) wrong.push(String(error));
    });
  };

  /** What the tool waits for at the same time, one group after the other. Each name is waited for once. */
  const plan = Array.from({ length: GROUPS }, (_, round) =>
    Object.fromEntries(
      Array.from({ length: 1 + upTo(2) }, (_w, i): [string, Wait] => {
        const until = T0 + (round + 1) * (10 + upTo(20)) * MINUTE;
        const kind = (['link', 'webhook', 'time', 'more'] as const)[upTo(3)] ?? 'more';
        return [`g${round}w${i}`, kind === 'more' ? { kind } : { kind, until }];
      }),
    ),
  );
  /** Bodies whose senders got the answer that they are stored, by the name of the wait. */
  const accepted = new Map<string, Set<string>>();
  const begun = new Map<number, RoundInput>();
  /** Whether one of the waits of a record is over, by what was sent and the time. */
  const hasEnded = ({ waits = '{}' }: TaskRecord, then: number): boolean =>
    Object.entries<Wait>(JSON.parse(waits)).some(
      ([name, wait]) => wait.kind === 'more' || wait.until <= then || accepted.has(name),
    );

  const more = new Set<string>();
  /** The groups that a run has come to. */
  const reached = new Set<number>();
  /** What the run of a round waits for: what is open of the first group that is not over. */
  function waitsOf(round: number): Readonly<Record<string, Wait>> | undefined {
    const signals = begun.get(round)?.signals ?? {};
    for (const [index, group] of plan.entries()) {
      reached.add(index);
      const open = Object.entries(group).filter(([name, wait]) =>
        wait.kind === 'more' ? !more.has(name) : wait.kind === 'time' ? wait.until > now : signals[name] === undefined,
      );
      for (const [name, { kind }] of open) if (kind === 'more') more.add(name);
      if (open.length > 0) return Object.fromEntries(open);
    }
    return undefined;
  }

  /** The workflow of a round: Finish, tried again until it is written or has lost its condition. */
  async function workflow(round: number): Promise<void> {
    const waits = waitsOf(round);
    const returned = { text: '{}', asks: false, isError: false, waits };
    const { dueAt: _, ...set } = finish(made, returned, '{}', now).set;
    for (let tries = 0; tries < 20; tries++) {
      try {
        return await step(async () => {
          const record = stored();
          if (record.status !== 'working' || record.round !== round) return;
          const { dueAt } = finish({ ...made, round }, returned, '{}', now).set;
          // if_not_exists(#early, :dueAt)
          const early = bug === 'no early' || waits === undefined ? undefined : record.early;
          engine.records.set({
            ...record,
            ...set,
            ...(dueAt !== undefined && { dueAt: early ?? dueAt }),
          } as TaskRecord);
          if (waits === undefined) engine.records.set({ ...stored(), status: 'completed' });
        });
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
    }
  }

  /** A person or system, who tries again after an error. */
  async function sender(name: string, until: number, body: string): Promise<void> {
    for (let tries = 0; tries < 4; tries++) {
      try {
        const signal = (at: number): Exclude<Signal, { timedOut: true }> => ({ body, at });
        const read = () => store.get(made);
        const received = await receiveSignal({ read, name, until, signal, sleep: async () => {} }, context);
        if (received?.outcome === 'stored') accepted.set(name, (accepted.get(name) ?? new Set()).add(body));
        return;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
    }
  }
  const plans: { readonly at: number; readonly group: number; readonly go: () => Promise<void> }[] = [];
  plan.forEach((waits, group) => {
    for (const [name, wait] of Object.entries(waits)) {
      if (wait.kind !== 'link' && wait.kind !== 'webhook') continue;
      for (let i = upTo(3); i > 0; i--) {
        const [early, late] = [chance(0.5), chance(0.2)];
        const at = late ? wait.until + upTo(2 * MINUTE) - MINUTE : early ? T0 : T0 + upTo(20 * MINUTE);
        const body = chance(0.5) ? 'same' : `other ${i}`;
        plans.push({ at, group, go: () => sender(name, wait.until, body) });
      }
    }
  });

  // The tool works in round 1; later rounds begin by the engine.
  spawn(() => workflow(1));
  let seen = stored();
  for (let turn = 0; turn < 6_000 && stored().status !== 'completed'; turn++) {
    for (const due of plans.filter(({ at, group }) => at <= now && reached.has(group))) {
      plans.splice(plans.indexOf(due), 1);
      spawn(due.go);
    }
    for (const { name, input } of engine.executions.all()) {
      const round = Number(/-r(\d+)$/.exec(name)?.[1]);
      if (begun.has(round)) continue;
      begun.set(round, JSON.parse(input));
      spawn(() => workflow(round));
    }
    const record = stored();
    if (JSON.stringify(record) !== JSON.stringify(seen)) {
      seen = record;
      const lost = !calm && chance(0.4);
      if (!lost && record.status === 'waiting' && isOver(record, now)) spawn(() => reconcile(made, true, context));
    }
    const open = gates.splice(upTo(Math.max(0, gates.length - 1)), 1)[0];
    if (open !== undefined) open();
    else {
      now += MINUTE;
      if (turn > 3_000) calm = true;
      const waited = stored();
      if (
        waited.status === 'waiting' &&
        hasEnded(waited, now - 5 * MINUTE) &&
        waited.updatedAt < now - 5 * MINUTE &&
        dies === 0
      ) {
        wrong.push(`round ${waited.round} has waited for five minutes although one of its waits is over`);
      }
      if (Number(waited.dueAt) <= now) spawn(() => reconcile(made, true, context));
    }
    for (let i = 0; i < 12; i++) await null;
  }
  if (stored().status !== 'completed') wrong.push(`stuck: ${stored().status} in round ${stored().round}`);
  for (const waits of plan) {
    for (const [name, { kind }] of Object.entries(waits)) {
      if (kind !== 'link' && kind !== 'webhook') continue;
      const counted = begun.get(stored().round)?.signals?.[name];
      const taken = [...(accepted.get(name) ?? [])];
      if (counted === undefined) wrong.push(`${name} has no signal`);
      else if ('timedOut' in counted && taken.length > 0) wrong.push(`${name}: ${taken} was accepted, and timed out`);
      else if ('body' in counted && taken.some((body) => body !== counted.body))
        wrong.push(`${name}: ${taken} accepted, ${counted.body} counts`);
      for (const { signals } of begun.values()) {
        const got = signals?.[name];
        if (got !== undefined && JSON.stringify(got) !== JSON.stringify(counted))
          wrong.push(`${name} changes between rounds`);
      }
    }
  }
  return wrong;
}
