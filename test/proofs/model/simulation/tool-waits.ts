import { limits } from '../../../../functions/tasks/limits.ts';
import type { ToolEvent, Wait } from '../../../../functions/tasks/tool-contract.ts';
import type { WaitTruth } from '../checks/truth.ts';
import { type Outcome, WAITING } from '../scenario.ts';

/** In ms: what each wait takes at most. */
const LENGTHS = { nap: 20_000, link: 60_000, webhook: 60_000 } as const;
/** Ends of waits are at whole such times, in ms: the workflow then writes few different ones. */
const STEP = 30_000;
const KINDS = { nap: 'time', link: 'link', webhook: 'webhook' } as const;

const whatOf = (planned: Outcome) => (Object.hasOwn(WAITING, planned) ? WAITING[planned as keyof typeof WAITING] : []);
const nameOf = (what: string, round: number): string => `${what} ${round}`;

/**
 * Stores the waits of this round and of the next one, once for all runs: the tool gives away each URL some time before it waits.
 *
 * @param plan the outcomes of the rounds
 * @returns those that are new, by name
 */
export function storeWaits(
  { task }: ToolEvent,
  plan: readonly Outcome[],
  waits: Map<string, WaitTruth>,
  now: number,
): WaitTruth[] {
  const { round, deadline } = task ?? { round: 1, deadline: 0 };
  return [round, round + 1].flatMap((of) =>
    whatOf(plan[of - 1] ?? 'text').flatMap((what) => {
      const name = nameOf(what, of);
      if (what === 'more' || waits.has(name)) return [];
      const until = Math.min(Math.ceil((now + LENGTHS[what]) / STEP) * STEP, deadline);
      const wait: WaitTruth = { kind: KINDS[what], until, sent: [] };
      waits.set(name, wait);
      return [wait];
    }),
  );
}

/** What a run ends its round with. Undefined: all that it would wait for is over. */
export function waitsOfRun(
  planned: Outcome,
  { task, signals = {} }: ToolEvent,
  waits: ReadonlyMap<string, WaitTruth>,
  now: number,
): Readonly<Record<string, Wait>> | undefined {
  if (planned === 'waits badly') return { nap: { kind: 'time', until: 'soon' as never } };
  if (planned === 'has more') return { more: { kind: 'more' } };
  const round = task?.round ?? 1;
  const names =
    planned === 'waits for the rest'
      ? [...waits.keys()].filter((name) => Number(name.split(' ')[1]) < round)
      : whatOf(planned).map((what) => nameOf(what, round));
  const left = names.flatMap((name): [string, Wait][] => {
    const wait = waits.get(name);
    // As functions/tool/waits does it: a run stays for the end of a short sleep.
    const over = wait?.kind === 'time' ? wait.until - now <= limits.waits.inside : Object.hasOwn(signals, name);
    return wait === undefined || over ? [] : [[name, { kind: wait.kind, until: wait.until }]];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** What the runs of a task keep for later ones. */
export interface Kept {
  readonly said: string;
  /** The link or webhook that came first. */
  readonly first?: string;
}

/** The link or webhook that came first: as an earlier run has found it, or the first one that this run gets. */
export function firstOf({ requestState, signals = {} }: ToolEvent): string | undefined {
  return (requestState as Kept | null)?.first ?? Object.keys(signals).sort()[0];
}
