import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultBench } from '../../faults/index.ts';
import type { ExpressFate, StepFunctionsOptions } from '../types.ts';

/** The point of the fault bench where an Express execution begins, after its start was answered. */
export function expressFate(
  bench: Pick<FaultBench, 'strike'>,
  callerOf: (roleArn: string) => string,
): NonNullable<StepFunctionsOptions['expressFate']> {
  return ({ stateMachineArn, roleArn, name }) => {
    const call = { service: 'states', operation: 'RunExpress', caller: callerOf(roleArn), worker: undefined } as const;
    return bench.strike({ ...call, input: () => ({ stateMachineArn, name }) }, 'before')?.then(
      (faults): ExpressFate => {
        if (faults.includes('double')) return 'twice';
        const [again] = faults.flatMap((fault) =>
          typeof fault === 'object' && 'doubleAfterMs' in fault ? fault.doubleAfterMs : [],
        );
        if (again !== undefined) return { againAfterMs: again };
        const [lostAfter] = faults.flatMap((fault) => {
          if (typeof fault !== 'object') return [];
          if ('loseAfter' in fault) return fault.loseAfter;
          return 'killAfterMs' in fault ? sleep(fault.killAfterMs, undefined, { ref: false }) : [];
        });
        return lostAfter === undefined ? 'once' : { lostAfter };
      },
      // No caller waits for an answer, so every error means this.
      (): ExpressFate => 'lost',
    );
  };
}
