import { createHash } from 'node:crypto';
import type { Choose, Fault, FaultCall, FaultService } from './types.ts';

export interface RandomFaultsOptions {
  /** The same seed strikes the same calls with the same faults if the calls of each label keep their order. */
  readonly seed: number;
  /** Groups calls: they are counted per kind and label. @default one label for all */
  readonly label?: (call: FaultCall) => string;
  /** The share of points that are struck, from 0 to 1. */
  readonly rate: number;
  /** Which calls may be struck. @default all */
  readonly only?: (call: FaultCall) => boolean;
  /** The longest delay, and the longest time until a worker dies, in milliseconds. @default 50 */
  readonly longestMs?: number;
  /** Called with each fault, so that a failing test can show what happened. */
  readonly onStrike?: (call: FaultCall, fault: Fault, count: number) => void;
}

const THROTTLED: Readonly<Partial<Record<FaultService, Fault>>> = {
  dynamodb: { error: 'ProvisionedThroughputExceededException' },
  states: { error: 'ThrottlingException' },
  secretsmanager: { error: 'ThrottlingException' },
  lambda: { error: 'TooManyRequestsException', status: 429 },
  s3: { error: 'SlowDown', status: 503 },
  events: { error: 'TooManyRequestsException', status: 429 },
  streams: { error: 'TooManyRequestsException', status: 429 },
  apigateway: { error: 'TooManyRequestsException', status: 429 },
};
const BROKEN: Readonly<Partial<Record<FaultService, Fault>>> = {
  dynamodb: { error: 'InternalServerError', status: 500 },
  states: { error: 'InternalFailure', status: 500 },
  secretsmanager: { error: 'InternalServiceError', status: 500 },
  lambda: { error: 'ServiceException', status: 500 },
  s3: { error: 'InternalError', status: 500 },
  events: { error: 'ServiceException', status: 500 },
  streams: { error: 'ServiceException', status: 500 },
};

/** Random faults of the kinds that AWS may show. */
export function randomFaults(options: RandomFaultsOptions): Choose {
  const { seed, rate, label, only = () => true, longestMs = 50, onStrike } = options;
  const counts = new Map<string, number>();
  return (call) => {
    if (!only(call)) return undefined;
    const whose = label === undefined ? '' : ` ${label(call)}`;
    const kind = `${call.service} ${call.operation} ${call.caller} ${call.at}${whose}`;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const [chance, choice, ms] = draws(`${seed} ${kind} ${count}`);
    if (chance >= rate) return undefined;
    const possible = faultsOf(call, Math.round(ms * longestMs));
    const fault = possible[Math.floor(choice * possible.length)];
    if (fault !== undefined) onStrike?.(call, fault, count);
    return fault;
  };
}

function faultsOf(call: FaultCall, ms: number): Fault[] {
  const { service, operation, at, worker } = call;
  const kill: Fault[] = worker === undefined ? [] : ['killWorker'];
  if (operation === 'RunExpress')
    return ['drop', 'double', { doubleAfterMs: 10 * ms }, { killAfterMs: ms }, { delayMs: ms }];
  if (service === 'lambda' && operation === 'Run') return [...kill, { killAfterMs: ms }, { delayMs: ms }];
  if (at !== 'before') return ['drop', { delayMs: ms }, ...kill];
  const errors = [THROTTLED[service], BROKEN[service]].filter((fault) => fault !== undefined);
  const double: Fault[] = service === 'events' && operation === 'Deliver' ? ['double'] : [];
  return ['drop', { delayMs: ms }, ...errors, ...kill, ...double];
}

/** Three numbers from 0 to below 1, derived from a text. */
function draws(text: string): [number, number, number] {
  const digest = createHash('sha256').update(text).digest();
  const draw = (at: number) => digest.readUInt32BE(at) / 2 ** 32;
  return [draw(0), draw(4), draw(8)];
}
