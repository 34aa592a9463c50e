import type { LambdaOptions } from '../lambda/index.ts';
import type { FunctionResource } from '../template/functions.ts';
import { ConnectionLost } from './points.ts';
import type { FaultBench } from './types.ts';

/** The point of the fault bench where a worker starts with an event. */
export function runPoint(
  functions: readonly FunctionResource[],
  bench: Pick<FaultBench, 'strike'>,
  onError: (message: string) => void,
): NonNullable<LambdaOptions['onRun']> {
  const logicalIds = new Map(functions.map(({ name, logicalId }) => [name, logicalId]));
  return ({ functionName, workerId, payload }) => {
    const caller = logicalIds.get(functionName) ?? functionName;
    const call = { service: 'lambda', operation: 'Run', caller, worker: workerId } as const;
    return bench.strike({ ...call, input: () => JSON.parse(payload) }, 'before')?.then(
      () => undefined,
      // A killed worker never starts, and nothing waits for it here.
      (struck: unknown) => (struck instanceof ConnectionLost ? undefined : onError(String(struck))),
    );
  };
}
