import { createRandom, type Fault, type FaultCall, type FaultService } from '../../../../local/testing.ts';
import { operatorsOf, type PlannedOperator } from './operators/plan.ts';

/** All that a schedule decides before it begins: the same seed is the same plan. */
export interface Plan {
  readonly seed: number;
  /** The share of points that are struck by chance. */
  readonly rate: number;
  /** Of so many deaths of workers one happens; tools crash as rarely. */
  readonly deaths: number;
  /** One kind of call that fails several times in a row, as no independent chances would have it. */
  readonly outage: Outage | undefined;
  /** The same for what tells changes of tasks. */
  readonly silence: Outage | undefined;
  readonly tasks: readonly PlannedTask[];
  readonly operators: readonly PlannedOperator[];
  readonly disturbances: readonly Disturbance[];
  /** Whether the clock goes on at the end until all tasks have expired. */
  readonly expires: boolean;
}

export interface Outage {
  readonly service: FaultService;
  readonly operation: string;
  readonly at: FaultCall['at'];
  /** How many calls of this kind go well first, and how many are struck after them. */
  readonly first: number;
  readonly calls: number;
  readonly fault: Fault;
}

export interface PlannedTask {
  readonly number: number;
  readonly era: 'modern' | 'legacy';
  /** Whether the client asks for a task or just calls the tool. */
  readonly way: 'task' | 'call';
  readonly tool: string;
  readonly args: Readonly<Record<string, number>>;
  /** Its client begins so many ms into the schedule. */
  readonly afterMs: number;
  /** Its call is made under an idempotency key, and repeated until it is answered. */
  readonly keyed: boolean;
  /** So many ms after the client has its id. */
  readonly cancelAfterMs: number | undefined;
  /** Its client holds streams all the while, one after the other. */
  readonly listens?: boolean;
  readonly answers: 'at once' | 'twice at once' | 'late' | 'never';
  /** The other system sends some time before the person does. */
  readonly apart?: boolean;
}

export interface Disturbance {
  readonly afterMs: number;
  /** `stop`: an operator stops a run in the console. */
  readonly what: 'advance' | 'sweep' | 'sweep twice' | 'stop';
  /** Of the clock, for `advance`. */
  readonly ms: number;
}

/** A worker's start costs as much as a dozen calls. */
export const DEATHS = 3;
/** Besides `others`. */
const TASKS = 10;
/** Of `others`, but for the last one. */
const OTHERS = 4;
/** One schedule in so many goes on until its tasks have expired. */
const EXPIRE = 5;
const PERIOD = 500;
const MINUTE = 60_000;
/** In milliseconds: longer than any tool of the schedules may work. */
const LONG = 16 * MINUTE;
const RATES = [0, 0.01, 0.02, 0.03, 0.05, 0.08] as const;
const TOOLS = [
  ...['echo', 'echo', 'returns', 'sleep', 'sleep', 'charge_once', 'charge_once', 'charge_then_crash', 'throws'],
  ...['ask', 'ask', 'ask_two', 'ask_twice', 'ask_twice', 'ask_first', 'steps'],
] as const;
/** Those that a client may call without a task, and that ask nothing. */
const PLAIN = new Set(['echo', 'returns', 'sleep', 'charge_once', 'throws']);

const OUTAGES: readonly (readonly [FaultService, string])[] = [
  ...(['PutItem', 'GetItem', 'UpdateItem', 'Query'] as const).map((operation) => ['dynamodb', operation] as const),
  ...(['StartExecution', 'StopExecution', 'DescribeExecution'] as const).map((name) => ['states', name] as const),
  ...[['lambda', 'Invoke'] as const, ['events', 'Deliver'] as const],
];
const ERRORS: Readonly<Partial<Record<FaultService, readonly Fault[]>>> = {
  dynamodb: [{ error: 'ProvisionedThroughputExceededException' }, { error: 'InternalServerError', status: 500 }],
  states: [{ error: 'ThrottlingException' }, { error: 'InternalFailure', status: 500 }],
  lambda: [
    { error: 'TooManyRequestsException', status: 429 },
    { error: 'ServiceException', status: 500 },
  ],
};

export function planOf(seed: number, deaths = DEATHS): Plan {
  const random = createRandom(`plan ${seed}`);
  const chance = (share: number) => random.number() < share;
  const upTo = (most: number) => Math.floor(random.number() * (most + 1));
  const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T => list[upTo(list.length - 1)] as T;

  const outage = (): Outage => {
    const [service, operation] = pick(OUTAGES);
    const at = chance(0.5) ? 'before' : 'after';
    const errors = at === 'before' ? (ERRORS[service] ?? []) : [];
    const fault = pick<Fault>(['drop', ...errors]);
    return { service, operation, at, first: upTo(8), calls: 2 + upTo(13), fault };
  };
  const argsOf = (tool: string): PlannedTask['args'] => {
    if (tool === 'sleep') return { ms: upTo(150) };
    if (tool === 'steps') return { steps: 1 };
    if (tool === 'charge_once') return { crashes: chance((0.2 * DEATHS) / deaths) ? 1 : 0 };
    if (tool === 'charge_then_crash') return { crashes: chance(1 - (0.5 * DEATHS) / deaths) ? 0 : 1 };
    return { n: upTo(1_000_000) };
  };
  const task = (number: number): PlannedTask => {
    const tool = pick(TOOLS);
    const era = tool !== 'ask_first' && chance(0.5) ? 'modern' : 'legacy';
    const way = PLAIN.has(tool) && chance(0.15) ? 'call' : 'task';
    return {
      ...{ number, era, way, tool, args: argsOf(tool), afterMs: upTo(PERIOD), keyed: chance(0.35) },
      cancelAfterMs: chance(0.3) ? upTo(PERIOD) : undefined,
      answers: pick(['at once', 'at once', 'twice at once', 'twice at once', 'late', 'never']),
    };
  };
  const disturbance = (): Disturbance => {
    const what = pick(['advance', 'advance', 'sweep', 'sweep twice', 'stop'] as const);
    const ms = pick([20_000, 20_000, MINUTE + 5_000, MINUTE + 5_000, LONG]);
    return { afterMs: upTo(2 * PERIOD), what, ms: what === 'advance' ? ms : 0 };
  };
  const rate = pick(RATES);
  const tasks = [...Array.from({ length: TASKS }, (_, number) => task(number)), ...others(seed)];
  return {
    ...{ seed, rate, deaths, outage: chance(0.6) ? outage() : undefined, silence: silence(seed) },
    ...{ tasks, operators: operatorsOf(seed, tasks) },
    disturbances: onceLong(Array.from({ length: chance(0.4) ? 1 + upTo(2) : 0 }, disturbance)),
    expires: seed % EXPIRE === 0,
  };
}

/** With two long jumps, and repairs on Express after them, tasks pass their ttl before a client has seen their end. */
const onceLong = (all: readonly Disturbance[]): readonly Disturbance[] => {
  const long = all.findIndex(({ ms }) => ms === LONG);
  return all.map((one, index) => (one.ms === LONG && index > long ? { ...one, ms: MINUTE } : one));
};

/** EventBridge takes no events for a while: longer than the retries of one delivery. */
function silence(seed: number): Outage | undefined {
  const random = createRandom(`silence ${seed}`);
  if (random.number() < 0.7) return undefined;
  const [first, calls] = [Math.floor(random.number() * 4), 3 + Math.floor(random.number() * 8)];
  return { service: 'events', operation: 'PutEvents', at: 'before', first, calls, fault: 'drop' };
}

/**
 * One task that is listened to; two with a result in S3, which the tool stores, or the server for it; and a call of a tool
 * that never is a task.
 */
function others(seed: number): PlannedTask[] {
  const random = createRandom(`others ${seed}`);
  const upTo = (most: number) => Math.floor(random.number() * (most + 1));
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const task = (number: number, tool: string, more: Partial<PlannedTask> = {}): PlannedTask => ({
    ...{ number: TASKS + number, tool, era: pick(['modern', 'legacy']), way: 'task', afterMs: upTo(PERIOD) },
    ...{ args: tool === 'sleep' ? { ms: upTo(1_500) } : tool === 'steps' ? { steps: 1 } : { n: upTo(1_000_000) } },
    ...{ keyed: upTo(2) === 0, cancelAfterMs: upTo(4) === 0 ? upTo(PERIOD) : undefined, listens: false },
    ...{ answers: 'at once', ...more },
  });
  // On a 2025-11-25 stream a question must be answered: a second client of the same task would take it away.
  const era = pick(['modern', 'legacy'] as const);
  const listened = pick(era === 'modern' ? ['sleep', 'steps', 'ask_twice', 'large'] : ['sleep', 'steps', 'large']);
  return [
    task(0, listened, { era, listens: true }),
    task(1, 'large', { way: pick(['task', 'task', 'call']) }),
    task(2, 'direct_echo', { way: 'call', keyed: false, cancelAfterMs: undefined }),
    task(3, 'big', { args: { bytes: 1_501 + upTo(140_000) } }),
    waiting(seed),
  ];
}

/** One that waits for the clock, a person and another system. Its end comes by the sweep that follows the calm. */
function waiting(seed: number): PlannedTask {
  const random = createRandom(`waiting ${seed}`);
  const upTo = (most: number) => Math.floor(random.number() * (most + 1));
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const answers = pick(['at once', 'at once', 'twice at once', 'twice at once', 'late', 'never'] as const);
  const polls = createRandom(`polls ${seed}`).number() < 0.5 ? 0 : 1;
  return {
    ...{ number: TASKS + OTHERS, tool: 'charge_and_wait', era: pick(['modern', 'legacy']), way: 'task', answers },
    ...{
      afterMs: upTo(PERIOD),
      args: {
        polls,
        nap: Math.max(pick([0, 20, 50]), 20 * polls),
        seconds: answers === 'never' ? 50 : pick([20, 50, 600]),
      },
    },
    ...{ keyed: upTo(1) === 0, cancelAfterMs: upTo(5) === 0 ? upTo(PERIOD) : undefined },
    apart: upTo(1) === 0,
  };
}
