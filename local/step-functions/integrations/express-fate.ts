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
        const [ms] = faults.flatMap((fault) =>
          typeof fault === 'object' && 'killAfterMs' in fault ? fault.killAfterMs : [],
        );
        return ms === undefined ? 'once' : { lostAfterMs: ms };
      },
      // No caller waits for an answer, so every error means this.
      (): ExpressFate => 'lost',
    );
  };
}
