import { type Choose, type FaultHandle, type Faults, randomFaults } from '../../../local/faults/index.ts';
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

export function raise({ seed, rate, outage }: Plan, faults: Faults): Storm {
  const strikes: string[] = [];
  const note: NonNullable<Parameters<typeof randomFaults>[0]['onStrike']> = (call, fault, count) => {
    const kind = typeof fault === 'string' ? fault : JSON.stringify(fault);
    strikes.push(`${call.service} ${call.operation} of ${call.caller} ${call.at} #${count}: ${kind}`);
  };
  const handles: FaultHandle[] = [faults.use(randomFaults({ seed, rate, longestMs: 40, onStrike: note }))];
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

function inARow(
  outage: Outage,
  note: (call: Parameters<Choose>[0], fault: Outage['fault'], count: number) => void,
): Choose {
  let seen = 0;
  return (call) => {
    if (call.service !== outage.service || call.operation !== outage.operation || call.at !== outage.at)
      return undefined;
    seen++;
    if (seen <= outage.first || seen > outage.first + outage.calls) return undefined;
    note(call, outage.fault, seen);
    return outage.fault;
  };
}
