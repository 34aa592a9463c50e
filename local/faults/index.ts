import { setTimeout as sleep } from 'node:timers/promises';
import { AwsError } from '../aws-error.ts';
import { matchesLogicalId } from '../logical-id.ts';
import { ConnectionLost, checkMortal, checkSpec, readInput } from './points.ts';
import type { CallFacts, Choose, Fault, FaultBench, FaultCall, FaultHandle, FaultPoint, FaultSpec } from './types.ts';

export { ConnectionLost, readInput } from './points.ts';
export { randomFaults } from './random.ts';
export { runPoint } from './run-point.ts';
export type * from './types.ts';

type KillWorker = (workerId: string) => Promise<boolean>;

interface PlantedFault {
  readonly choose: Choose;
  hits: number;
  readonly struck: PromiseWithResolvers<FaultCall>;
}

/**
 * @param killWorker returns false if the worker is already gone, as in `Lambda`
 * @param mortal whether this process may be killed
 */
export function createFaults(killWorker: KillWorker, mortal = false): FaultBench {
  const planted = new Set<PlantedFault>();

  const use = (choose: Choose): FaultHandle => {
    const entry: PlantedFault = { choose, hits: 0, struck: Promise.withResolvers() };
    planted.add(entry);
    return {
      get hits() {
        return entry.hits;
      },
      struck: entry.struck.promise,
      remove: () => void planted.delete(entry),
    };
  };

  const strikeAll = async (facts: CallFacts, at: FaultPoint): Promise<readonly Fault[]> => {
    const call = faultCall(facts, at);
    const struck: Fault[] = [];
    for (const entry of [...planted]) {
      const fault = entry.choose(call);
      if (fault === undefined) continue;
      if (fault === 'killProcess') checkMortal(mortal);
      entry.hits++;
      entry.struck.resolve(call);
      struck.push(fault);
      await apply(fault, call, killWorker);
    }
    return struck;
  };
  const strike: FaultBench['strike'] = (call, at) => (planted.size === 0 ? undefined : strikeAll(call, at));

  return {
    faults: {
      add(spec) {
        checkSpec(spec);
        if (spec.do === 'killProcess') checkMortal(mortal);
        const matches = matcher(spec);
        let left = spec.times ?? 1;
        return use((call) => {
          if (left <= 0 || !matches(call)) return undefined;
          left--;
          return spec.do;
        });
      },
      use,
      clear: () => planted.clear(),
    },
    strike,
    async withFaults(call, run) {
      const before = strike(call, 'before');
      if (before) await before;
      try {
        return await run();
      } finally {
        const after = strike(call, 'after');
        if (after) await after;
      }
    },
  };
}

/** The bench of a cloud without faults. */
export const noFaults: FaultBench = createFaults(async () => false);

function faultCall(facts: CallFacts, at: FaultPoint): FaultCall {
  return {
    ...facts,
    at,
    get input() {
      return readInput(facts);
    },
  };
}

function matcher({ service, operation, caller, when, at = 'before' }: FaultSpec): (call: FaultCall) => boolean {
  return (call) =>
    call.service === service &&
    call.at === at &&
    (operation === undefined || call.operation === operation) &&
    (caller === undefined || matchesLogicalId(call.caller, caller)) &&
    (when === undefined || when(call));
}

async function apply(fault: Fault, call: FaultCall, killWorker: KillWorker): Promise<void> {
  // The code that runs the call applies these: see `expressFate`, and `pump` in `local/api-gateway/integration.ts`.
  if (fault === 'double' || fault === 'holdChunks') return;
  if (typeof fault === 'object' && ('doubleAfterMs' in fault || 'loseAfter' in fault || 'emptyEndsAfterMs' in fault))
    return;
  if (call.operation === 'RunExpress' && typeof fault === 'object' && 'killAfterMs' in fault) return;
  if (fault === 'drop') throw new ConnectionLost();
  if (fault === 'killProcess') return die();
  if (fault === 'killWorker') {
    await killWorker(workerOf(call));
    throw new ConnectionLost();
  }
  if ('error' in fault) throw new AwsError(fault.error, fault.message ?? `${fault.error} (on purpose)`, fault.status);
  if ('delayMs' in fault) await sleep(fault.delayMs, undefined, { ref: false });
  else if ('run' in fault) await fault.run(call);
  else {
    const worker = workerOf(call);
    setTimeout(() => void killWorker(worker), fault.killAfterMs).unref();
  }
}

/** Kills this process. The signal may take a moment: until then the call does not return. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

function workerOf({ worker, caller, service, operation }: FaultCall): string {
  if (worker === undefined) throw new Error(`no worker makes the call ${service} ${operation} of ${caller}`);
  return worker;
}
