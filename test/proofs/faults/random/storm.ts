import {
  type Choose,
  createRandom,
  type Fault,
  type FaultCall,
  type FaultHandle,
  type Faults,
  objectOf,
  randomFaults,
} from '../../../../local/testing.ts';
import { UNHARMED } from './operators/connect.ts';
import type { Outage, Plan } from './plan.ts';
import { isDirect, isExpressApp } from './tools.ts';
import { type Whose, whose } from './whose.ts';

/** A fault that struck, and what it struck. */
export interface Strike extends Pick<FaultCall, 'service' | 'operation' | 'caller' | 'worker'>, Whose {
  readonly fault: Fault;
  /** By the clock of the cloud. */
  readonly at: number;
  readonly told: string;
}

/** A round that began: its tool was invoked, or a worker began with it. */
export interface Begun {
  readonly at: number;
  readonly worker: string | undefined;
}

/** The faults of a plan while they are at work, and what they did. */
export interface Storm {
  /** What struck, in order. */
  readonly strikes: readonly Strike[];
  /** When a worker began with a round of a task, by `<taskId>-r<round>`. */
  readonly runs: ReadonlyMap<string, readonly Begun[]>;
  /** When a state machine invoked the tool for it: those that no fault kept from it. */
  readonly invokes: ReadonlyMap<string, readonly Begun[]>;
  /** Of a tool that never is a task: how often the endpoint began with a call of it, and how often it ran. */
  readonly direct: ReadonlyMap<string, { readonly calls: number; readonly runs: number }>;
  /** Fails calls of one caller, also after the calm. */
  trouble(caller: string, outage: Outage): FaultHandle;
  /** No more faults; runs are counted on. */
  calm(): void;
  end(): void;
}

/** Besides what strikes every call: executions of Express that run twice, or get lost. */
const EXPRESS_RATE = 0.15;
/** Other draws than those for every call. */
const EXPRESS_SEED = 1_000_000;

export const kills = (fault: Fault): boolean =>
  fault === 'killWorker' || (typeof fault === 'object' && 'killAfterMs' in fault);

export function raise({ seed, rate, deaths: oneIn, outage, silence }: Plan, faults: Faults, now: () => number): Storm {
  const strikes: Strike[] = [];
  const note = (call: FaultCall, fault: Fault): Fault => {
    const { service, operation, caller, at, worker } = call;
    const kind = typeof fault === 'string' ? fault : JSON.stringify(fault);
    const whom = whose(call);
    const of = whom.run ?? whom.taskId ?? whom.about;
    const told = `${service} ${operation} of ${caller} ${at}${of === undefined ? '' : ` (${of})`}: ${kind}`;
    strikes.push({ service, operation, caller, worker, ...whom, fault, at: now(), told });
    return fault;
  };
  const label = labels();
  const only = ({ caller }: FaultCall) => caller !== UNHARMED;
  const random = randomFaults({ seed, rate, longestMs: 40, label, only });
  const deaths = new Map<string, number>();
  const byChance: Choose = (call) => {
    const fault = random(call);
    if (fault === undefined) return undefined;
    return kills(fault) && !isDied(`${seed} ${label(call)}`, deaths, oneIn) ? undefined : note(call, fault);
  };
  const handles: FaultHandle[] = [faults.use(byChance)];
  if (isExpressApp()) {
    const runs = ({ operation }: FaultCall) => operation === 'RunExpress';
    const ofRuns = randomFaults({ seed: seed + EXPRESS_SEED, rate: EXPRESS_RATE, longestMs: 200, label, only: runs });
    handles.push(
      faults.use((call) => {
        const fault = ofRuns(call);
        return fault && note(call, fault);
      }),
    );
  }
  for (const row of [outage, silence]) if (row !== undefined) handles.push(faults.use(inARow(row, note)));

  const runs = new Map<string, Begun[]>();
  const invokes = new Map<string, Begun[]>();
  const direct = new Map<string, { calls: number; runs: number }>();
  const countDirect = (call: FaultCall) => {
    const asked = whose(call).about?.replace(/^tools\/call /, '');
    const tool = asked ?? String(call.input.name);
    if (!isDirect({ tool })) return;
    const { calls, runs } = direct.get(tool) ?? { calls: 0, runs: 0 };
    direct.set(tool, asked === undefined ? { calls, runs: runs + 1 } : { calls: calls + 1, runs });
  };
  // Set last, it hears only of what no fault kept from beginning.
  const counting = faults.use((call) => {
    if (call.service !== 'lambda' || call.at !== 'before') return undefined;
    const { run } = whose(call);
    if (call.operation === 'Run') countDirect(call);
    if (run === undefined || call.input.detail !== undefined) return undefined;
    const begun = call.operation === 'Run' ? runs : invokes;
    begun.set(run, [...(begun.get(run) ?? []), { at: now(), worker: call.worker }]);
    return undefined;
  });
  return {
    strikes,
    runs,
    invokes,
    direct,
    trouble: (caller, outage) => faults.use(inARow(outage, note, (call) => call.caller === caller)),
    calm: () => handles.forEach((handle) => void handle.remove()),
    end: () => counting.remove(),
  };
}

/**
 * Names the tasks, each by its tool and which of this tool's it is: then what strikes a task depends on its own calls,
 * not on how the calls of other tasks happen to come between them.
 */
function labels(): (call: FaultCall) => string {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  return (call) => {
    const { taskId, about = '' } = whose(call);
    if (taskId === undefined) return about;
    const label = known.get(taskId);
    if (label !== undefined) return label;
    // One under a key is looked for before it is put.
    const { tool: named, rerunOf } = objectOf(call.input.Item);
    const first = objectOf(rerunOf).S;
    const made = first === undefined ? String(objectOf(named).S ?? 'keyed') : `again ${known.get(String(first))}`;
    const tool = call.caller === UNHARMED ? 'twin' : made;
    const count = (counts.get(tool) ?? 0) + 1;
    counts.set(tool, count);
    known.set(taskId, `${tool} ${count}`);
    return `${tool} ${count}`;
  };
}

function isDied(label: string, deaths: Map<string, number>, oneIn: number): boolean {
  const count = (deaths.get(label) ?? 0) + 1;
  deaths.set(label, count);
  return createRandom(`death ${label} ${count}`).number() < 1 / oneIn;
}

/** By the order in which such calls come: an outage knows no tasks. */
function inARow(
  outage: Outage,
  note: (call: FaultCall, fault: Fault) => Fault,
  only = ({ caller }: FaultCall) => caller !== UNHARMED,
): Choose {
  const { service, operation, at, first, calls, fault } = outage;
  let seen = 0;
  return (call) => {
    if (call.service !== service || call.operation !== operation || call.at !== at || !only(call)) return undefined;
    seen++;
    return seen > first && seen <= first + calls ? note(call, fault) : undefined;
  };
}
