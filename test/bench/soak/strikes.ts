import type { Cloud } from '../../../local/cloud.ts';
import { type Fault, type FaultCall, randomFaults } from '../../../local/testing.ts';
import { roleOf } from '../../proofs/faults/memory/roles.ts';

/** The faults that have struck, by kind. */
export interface Strikes {
  line(): string;
  /** The failures that no fault can have caused of those that struck, in words. @param failures how many of each reason */
  unexplained(failures: ReadonlyMap<string, number>): string[];
}

/**
 * Which kinds of faults may end a task, by the reason it fails with. Each strike ends one task at most; all others are
 * tried again, or met again by the sweep, and excuse nothing.
 */
const CAUSES: Readonly<Record<string, readonly string[]>> = {
  'Runtime.ExitError': ['tool killed'],
  'Lambda.SdkClientException': ['Invoke drop'],
  'Lambda.ServiceException': ['Invoke ServiceException'],
  'The task could not be started': [
    ...['endpoint killed', 'StartExecution drop'],
    ...['StartExecution ThrottlingException', 'StartExecution InternalFailure'],
  ],
};
const SEED = 1;
/** One in so many of the deaths is carried out: the memory of a worker can be judged only if it lives. */
const DEATHS = 20;

interface Disturbed {
  readonly faults: Pick<Cloud['faults'], 'use'>;
}

/** Lets faults of all kinds strike from now on. @param rate the share of points that are struck, deaths aside */
export function disturb(cloud: Disturbed, rate: number): Strikes {
  const counts = new Map<string, number>();
  const random = randomFaults({ seed: SEED, rate });
  let deaths = 0;
  cloud.faults.use((call) => {
    const fault = random(call);
    if (fault === undefined || (isDeadly(fault) && deaths++ % DEATHS !== 0)) return undefined;
    const kind = kindOf(call, fault);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return fault;
  });
  return {
    line: () => `faults: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')}`,
    unexplained: (failures) =>
      [...failures].flatMap(([reason, failed]) => {
        const kinds = CAUSES[reason] ?? [];
        const struck = kinds.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0);
        return failed <= struck ? [] : [`${failed} tasks failed with ${reason}: ${struck} faults may have caused that`];
      }),
  };
}

const isDeadly = (fault: Fault) => fault === 'killWorker' || (typeof fault === 'object' && 'killAfterMs' in fault);

function kindOf({ operation, worker = '' }: FaultCall, fault: Fault): string {
  if (isDeadly(fault)) return `${roleOf(worker) ?? 'other'} killed`;
  if (typeof fault === 'string') return `${operation} ${fault}`;
  return 'error' in fault ? `${operation} ${fault.error}` : 'delay';
}
