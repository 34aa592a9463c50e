import {
  type Choose,
  type Fault,
  type FaultCall,
  type FaultHandle,
  type Faults,
  randomFaults,
} from '../../../local/faults/index.ts';
import type { Outage, Plan } from './plan.ts';

/** The faults of a plan while they are at work, and what they did. */
export interface Storm {
  /** What struck, in order, in words. */
  readonly strikes: readonly string[];
  /** How often a worker began with a round of a task, by `<taskId>-r<round>`. */
  readonly runs: ReadonlyMap<string, number>;
  /** No more faults; runs are counted on. */
  calm(): void;
  end(): void;
}

/** Of so many deaths one is died: a worker's start costs as much as a dozen calls. */
const DEATHS = 3;

export function raise({ seed, rate, outage }: Plan, faults: Faults): Storm {
  const strikes: string[] = [];
  const note = ({ service, operation, caller, at }: FaultCall, fault: Fault): Fault => {
    const kind = typeof fault === 'string' ? fault : JSON.stringify(fault);
    strikes.push(`${service} ${operation} of ${caller} ${at}: ${kind}`);
    return fault;
  };
  const random = randomFaults({ seed, rate, longestMs: 40 });
  let deaths = 0;
  const byChance: Choose = (call) => {
    const fault = random(call);
    if (fault === undefined) return undefined;
    const deadly = fault === 'killWorker' || (typeof fault === 'object' && 'killAfterMs' in fault);
    return deadly && deaths++ % DEATHS !== 0 ? undefined : note(call, fault);
  };
  const handles: FaultHandle[] = [faults.use(byChance)];
  if (outage !== undefined) handles.push(faults.use(inARow(outage, note)));

  const runs = new Map<string, number>();
  // Set last, it hears only of what no fault kept from beginning.
  const counting = faults.use(({ service, operation, input }) => {
    if (service !== 'lambda' || operation !== 'Run') return undefined;
    const { task } = input as { task?: { taskId?: unknown; round?: unknown } };
    if (task?.taskId === undefined) return undefined;
    const run = `${task.taskId}-r${task.round}`;
    runs.set(run, (runs.get(run) ?? 0) + 1);
    return undefined;
  });
  return {
    strikes,
    runs,
    calm: () => handles.forEach((handle) => void handle.remove()),
    end: () => counting.remove(),
  };
}

function inARow(outage: Outage, note: (call: FaultCall, fault: Fault) => Fault): Choose {
  const { service, operation, at, first, calls, fault } = outage;
  let seen = 0;
  return (call) => {
    if (call.service !== service || call.operation !== operation || call.at !== at) return undefined;
    seen++;
    return seen > first && seen <= first + calls ? note(call, fault) : undefined;
  };
}
