import type { ExecutionState, MapCount } from '../../tasks/aws/execution-history.ts';
import { setBounded } from '../../tasks/bounded-map.ts';
import { executionName } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';

/** How long one container reuses the state of one execution, in ms. Longer while it follows many. */
const PACE = 2_000;
/** By one container, for all executions: as many as one owner has in all containers (`limits.states`). */
const READS_PER_SECOND = (limits.states.most * 1_000) / (2 * limits.states.window);
const BURST = 10;
/** As PACE, after a read that failed. */
const PAUSE = 10_000;
/** Executions remembered in one container. */
const MOST = 1_000;

/** Whether the states of an owner's machines may be read once more. */
type Count = (owner: string) => Promise<boolean>;
/** Reads the state of an execution. `before`: what an earlier read has counted of its Map. */
type Read = (executionArn: string, before?: MapCount) => Promise<ExecutionState | undefined>;

/**
 * Finds the current state of the execution that does a task's work.
 *
 * @param machines names of the state machines, as in TOOL_MACHINES
 * @param read reads the state of an execution
 * @param count counts a read of an owner in all containers
 */
export function machineStates(
  machines: readonly string[],
  machineArnPrefix: string,
  read: Read,
  count: Count,
  now: () => number,
): ServerContext['currentState'] {
  const prefix = machineArnPrefix.replace(/:stateMachine:.*$/, ':execution:');
  const states = cachedStates(read, count, now);
  return ({ owner, taskId, round }: TaskKey & { readonly round: number }, stateMachine) =>
    states(owner, `${prefix}${machines[stateMachine]}:${executionName(taskId, round)}`);
}

interface CachedState {
  readonly state: Promise<ExecutionState | undefined>;
  until: number;
  askedAt: number;
}

/** Caches the last state for a while, and keeps it if a read fails: progress may be missing. */
function cachedStates(read: Read, count: Count, now: () => number) {
  const cache = new Map<string, CachedState>();
  /** The window in which an owner has no read left, which is known without a count. */
  const refusedIn = new Map<string, number>();
  const window = () => Math.floor(now() / limits.states.window);
  const left = { reads: BURST, at: now() };
  const mayCheck = (): boolean => {
    const earned = (Math.max(0, now() - left.at) / 1_000) * READS_PER_SECOND;
    left.reads = Math.min(BURST, left.reads + earned);
    left.at = now();
    if (left.reads < 1) return false;
    left.reads--;
    return true;
  };
  /** Time until all recently requested executions have been read once. */
  const pace = (): number => {
    const asked = [...cache.values()].filter(({ askedAt }) => now() - askedAt < PAUSE).length;
    return Math.max(PACE, (asked * 1_000) / READS_PER_SECOND);
  };
  return (owner: string, executionArn: string): Promise<ExecutionState | undefined> => {
    const last = cache.get(executionArn);
    const early = (last !== undefined && now() < last.until) || refusedIn.get(owner) === window();
    const seen = last ?? { state: Promise.resolve(undefined), until: now(), askedAt: now() };
    const next: CachedState =
      early || !mayCheck() ? seen : { state: checkAgain(), until: now() + pace(), askedAt: now() };
    next.askedAt = now();
    setBounded(cache, executionArn, next, MOST);
    return next.state;

    async function checkAgain(): Promise<ExecutionState | undefined> {
      const before = await last?.state;
      try {
        const countedIn = window();
        if (!(await count(owner))) {
          setBounded(refusedIn, owner, countedIn, MOST);
          next.until = now();
          return before;
        }
        return newerState(before, await read(executionArn, before?.map));
      } catch (error) {
        // Does not exist yet: the task's workflow, which starts it, has only just started.
        if ((error as Error).name !== 'ExecutionDoesNotExist') next.until = now() + PAUSE;
        return before;
      }
    }
  };
}

/** Returning to an earlier state, and another count, counts as a new change: `updatedAt` must move forward. */
function newerState(before: ExecutionState | undefined, found: ExecutionState | undefined): ExecutionState | undefined {
  if (before === undefined || found === undefined) return found ?? before;
  if (found.name === before.name && found.map?.done === before.map?.done)
    return { ...before, ...(found.map && { map: found.map }) };
  return { ...found, enteredAt: Math.max(found.enteredAt, before.enteredAt + 1) };
}
