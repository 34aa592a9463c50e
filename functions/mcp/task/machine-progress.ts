import type { ExecutionState } from '../../tasks/execution-history.ts';
import { executionName } from '../../tasks/ids.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';

/** How often one container looks at one execution, in ms; less often while it looks at many. */
const PACE = 2_000;
/**
 * How often it looks at all of them together. The quota of GetExecutionHistory is the account's, for other applications,
 * too.
 */
const LOOKS_PER_SECOND = 5;
const BURST = 10;
/** The same after a look that failed. */
const PAUSE = 10_000;
/** Executions remembered in one container. */
const MOST = 1_000;

/**
 * A record as it is about to be shown: while a state machine does the work, the name of the state it is in is the
 * status message, and a new state is a change (docs/architecture.md, "State machines as tools"). What the tool reported
 * itself comes first.
 */
export async function withMachineState(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  const stateMachine = server.tools.get(record.tool)?.entry.stateMachine;
  if (stateMachine === undefined || record.status !== 'working' || record.statusMessage !== undefined) return record;
  const state = await server.currentState(record, stateMachine);
  if (state === undefined) return record;
  return { ...record, statusMessage: state.name, updatedAt: Math.max(record.updatedAt, state.enteredAt) };
}

/** The executions that do the work of tasks; `machines` are the names of the state machines. */
export function machineStates(
  machines: readonly string[],
  machineArnPrefix: string,
  look: (executionArn: string) => Promise<ExecutionState | undefined>,
  now: () => number,
): ServerContext['currentState'] {
  const prefix = machineArnPrefix.replace(/:stateMachine:.*$/, ':execution:');
  const states = cachedStates(look, now);
  return ({ taskId, round }: TaskKey & { readonly round: number }, stateMachine) =>
    states(`${prefix}${machines[stateMachine]}:${executionName(taskId, round)}`);
}

interface Look {
  readonly state: Promise<ExecutionState | undefined>;
  until: number;
  askedAt: number;
}

/** What was seen last is the answer for a while, and again whenever a new look fails: progress is worth no error. */
function cachedStates(look: (executionArn: string) => Promise<ExecutionState | undefined>, now: () => number) {
  const looks = new Map<string, Look>();
  const left = { looks: BURST, at: now() };
  const mayLook = (): boolean => {
    const earned = (Math.max(0, now() - left.at) / 1_000) * LOOKS_PER_SECOND;
    left.looks = Math.min(BURST, left.looks + earned);
    left.at = now();
    if (left.looks < 1) return false;
    left.looks--;
    return true;
  };
  /** Until the others that were asked for of late have had their turn. */
  const pace = (): number => {
    const asked = [...looks.values()].filter(({ askedAt }) => now() - askedAt < PAUSE).length;
    return Math.max(PACE, (asked * 1_000) / LOOKS_PER_SECOND);
  };
  return (executionArn: string): Promise<ExecutionState | undefined> => {
    const last = looks.get(executionArn);
    const early = last !== undefined && now() < last.until;
    const seen = last ?? { state: Promise.resolve(undefined), until: now(), askedAt: now() };
    const next: Look = early || !mayLook() ? seen : { state: lookAgain(), until: now() + pace(), askedAt: now() };
    next.askedAt = now();
    // At the end of the map: the first is the one that nobody has asked for the longest.
    looks.delete(executionArn);
    looks.set(executionArn, next);
    for (const [oldest] of looks) {
      if (looks.size <= MOST) break;
      looks.delete(oldest);
    }
    return next.state;

    async function lookAgain(): Promise<ExecutionState | undefined> {
      const before = await last?.state;
      try {
        return newerState(before, await look(executionArn));
      } catch (error) {
        // Not there yet: it is started by a workflow that has been started itself just now.
        if ((error as Error).name !== 'ExecutionDoesNotExist') next.until = now() + PAUSE;
        return before;
      }
    }
  };
}

/** Back in a state around the one before it, an execution is there since now, not since it entered it first. */
function newerState(before: ExecutionState | undefined, found: ExecutionState | undefined): ExecutionState | undefined {
  if (before === undefined || found === undefined) return found ?? before;
  if (found.name === before.name) return before;
  return { name: found.name, enteredAt: Math.max(found.enteredAt, before.enteredAt + 1) };
}
