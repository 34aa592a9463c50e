import fc from 'fast-check';
import type { Faults } from './simulation/process.ts';

/** What comes of one run of the model's tool, if it does not wait. */
export const OUTCOMES = [
  ...['text', 'asks', 'asks twice', 'error result', 'throws', 'crashes', 'never', 'too large', 'asks badly'],
] as const;
/** What a run of the model's tool may wait for. */
export const WAITING = {
  sleeps: ['nap'],
  'waits for a person': ['link'],
  'waits for a system': ['webhook'],
  'waits for all': ['nap', 'link', 'webhook'],
  /** That earlier rounds have waited for: a race goes on. */
  'waits for the rest': [],
  'has more': ['more'],
  'asks and waits': ['link'],
  'waits badly': [],
} as const;
type Waiting = keyof typeof WAITING;
export type Outcome = (typeof OUTCOMES)[number] | Waiting;

export const TOOLS = ['careful', 'repeatable', 'first'] as const;

/** What a client does next. `task`: one of those whose ids clients have, counted round and round. */
export type Step =
  | {
      readonly does: 'call';
      /** `first` asks before it runs. */
      readonly tool: (typeof TOOLS)[number];
      /** Of its idempotency key; 0: it has none. The same key is always the same call. */
      readonly key: 0 | 1 | 2;
      /** What the tool will do, round by round: an index into `plans`. */
      readonly plan: number;
      /** How often the call is made at most, until it is answered. */
      readonly tries: number;
      /** What the client wishes, in s; 2025-11-25 clients only. */
      readonly ttl: number | undefined;
      readonly asTask: boolean;
    }
  | { readonly does: 'poll' | 'cancel'; readonly task: number }
  /** `which`: bits, of the questions that are open; `looks`: how often it polls at most. */
  | { readonly does: 'follow'; readonly task: number; readonly which: number; readonly looks: number }
  | {
      readonly does: 'answer';
      readonly task: number;
      readonly which: number;
      readonly how: 'accept' | 'wrong' | 'refuse';
    }
  /** `which`: of the links and webhooks that the tool has given away, counted round and round. */
  | { readonly does: 'signal'; readonly task: number; readonly which: number; readonly operator: boolean }
  /** 2025-11-25: tasks/list; 2026-07-28: a stream that tells of all tasks. */
  | { readonly does: 'list' };

export interface Client {
  readonly era: 'legacy' | 'modern';
  readonly steps: readonly Step[];
}

/** One run: who does what, what goes wrong, and what happens next wherever more than one thing could. */
export interface Scenario {
  readonly plans: readonly (readonly Outcome[])[];
  readonly clients: readonly Client[];
  readonly faults: Omit<Faults, 'struck'>;
  /** When in the minute the sweep comes, in s. */
  readonly sweepAt: number;
  /** How wrong the clocks of one process after the other are, in s. */
  readonly skews: readonly number[];
  readonly choices: readonly number[];
}

const asking = fc.constantFrom<Outcome>('asks', 'asks twice');
const outcome = fc.oneof(
  { weight: 3, arbitrary: asking },
  { weight: 1, arbitrary: fc.constant<Outcome>('text') },
  { weight: 2, arbitrary: fc.constantFrom('never', ...OUTCOMES) },
);
const plans = (of: fc.Arbitrary<Outcome>) =>
  fc.array(fc.noBias(fc.array(of, { minLength: 1, maxLength: 3, size: 'max' })), { minLength: 3, maxLength: 3 });

const call = fc.record({
  does: fc.constant('call' as const),
  tool: fc.constantFrom('careful', ...TOOLS),
  key: fc.constantFrom(...([0, 0, 1, 1, 2] as const)),
  plan: fc.nat(2),
  tries: fc.constantFrom(1, 2, 3),
  ttl: fc.constantFrom(undefined, undefined, undefined, 600, 60, 0.001),
  asTask: fc.constantFrom(true, true, true, true, false),
});
const task = fc.nat(3);
const which = fc.constantFrom(3, 1, 2);
const how = fc.constantFrom(...(['accept', 'accept', 'accept', 'wrong', 'refuse'] as const));
const poll = fc.record({ does: fc.constant('poll' as const), task });
const cancel = fc.record({ does: fc.constant('cancel' as const), task });
const follow = fc.record({ does: fc.constant('follow' as const), task, which, looks: fc.constantFrom(1, 2, 4, 8) });
const answer = fc.record({ does: fc.constant('answer' as const), task, which, how });
const signal = fc.record({
  does: fc.constant('signal' as const),
  task,
  which: fc.nat(2),
  operator: fc.constantFrom(false, false, true),
});
const list = fc.constant({ does: 'list' as const });

const WAITS = Object.keys(WAITING) as Waiting[];
const waiting = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Outcome>(...WAITS) },
  { weight: 1, arbitrary: outcome },
);
const sent = fc.constantFrom<Outcome>('waits for a person', 'waits for a system', 'waits for all', 'asks and waits');
const racing = fc.constantFrom<Outcome>('waits for all', 'waits for the rest', 'waits for the rest', 'asks and waits');
const long = fc.oneof(fc.constant<Outcome>('never'), outcome);
const short = call.map((one) => ({
  ...one,
  key: 0 as const,
  tool: one.tool === 'careful' ? ('first' as const) : one.tool,
}));
const twin = call.map((one) => ({ ...one, key: one.plan === 0 ? (2 as const) : (1 as const) }));
const asked = call.map((one) => ({ ...one, key: 0 as const, tool: 'careful' as const, ttl: undefined, asTask: true }));

/** All or one of the fates of calls, or any of them. */
const kinds = fc.oneof(
  fc.constant(255),
  fc.nat(7).map((bit) => 1 << bit),
  fc.noBias(fc.integer({ min: 0, max: 255 })),
);
const faults = fc.record({
  rate: fc.constantFrom(0, 5, 15, 30),
  focus: fc.constantFrom('', '', 'start r1', 'start r2', 'finish', 'finish', 'change', 'put', 'stop'),
  outage: fc.constantFrom<Faults['outage'][]>([0, 0], [0, 0], [0, 0], [2, 20], [10, 100], [40, 200]),
  kinds,
});
const none = fc.constant<Scenario['faults']>({ rate: 0, focus: '', outage: [0, 0], kinds: 0 });
/** Outcomes cannot be written until their deadline and the grace are over, or nearly so. */
const late = fc.record({
  rate: fc.constantFrom(0, 5),
  focus: fc.constant('finish'),
  outage: fc.constantFrom<Faults['outage'][]>([1, 65], [1, 75], [30, 85], [30, 135]),
  kinds,
});
/** One round and the next meet: outcomes come late or twice, or who has begun a round dies when it should start it. */
const crossing = fc.record({
  rate: fc.constantFrom(0, 5),
  focus: fc.constantFrom('finish', 'start r2'),
  outage: fc.constant<Faults['outage']>([0, 0]),
  kinds: fc.constantFrom(0b11000, 0b11100000),
});

/** The ends of rounds that wait, signals and the starts of the rounds after them meet. */
const waking = fc.record({
  rate: fc.constantFrom(0, 5, 15),
  focus: fc.constantFrom('', 'change', 'finish', 'start r2'),
  outage: fc.constant<Faults['outage']>([0, 0]),
  kinds,
});

/** What clients mostly do: a little of everything, or one thing so often that its races are met. */
const everything = fc.oneof<fc.Arbitrary<Step>[]>(call, poll, cancel, follow, answer, list);
const talk = fc.oneof<fc.Arbitrary<Step>[]>(poll, follow, answer, answer);
const HABITS = [
  { first: call, step: everything, outcome, faults },
  { first: call, step: talk, outcome: asking, faults },
  { first: call, step: fc.oneof<fc.Arbitrary<Step>[]>(call, call, follow, list), outcome, faults },
  { first: twin, step: fc.oneof<fc.Arbitrary<Step>[]>(twin, twin, follow), outcome, faults },
  {
    first: call,
    step: fc.oneof<fc.Arbitrary<Step>[]>(follow, answer, cancel),
    outcome: long,
    faults: fc.oneof(faults, none),
  },
  { first: short, step: fc.oneof<fc.Arbitrary<Step>[]>(poll, follow, answer), outcome: long, faults: late },
  { first: asked, step: talk, outcome: asking, faults: crossing },
];
const WAITING_HABITS = [
  {
    first: asked,
    step: fc.oneof<fc.Arbitrary<Step>[]>(signal, signal, poll, follow, answer, cancel),
    outcome: waiting,
    faults: fc.oneof(waking, faults),
  },
  { first: asked, step: fc.oneof<fc.Arbitrary<Step>[]>(signal, signal, signal, poll), outcome: sent, faults: waking },
  { first: asked, step: fc.oneof<fc.Arbitrary<Step>[]>(signal, signal, signal, poll), outcome: racing, faults: waking },
];

const scenarioOf = ({
  first,
  step,
  outcome,
  faults,
}: (typeof HABITS | typeof WAITING_HABITS)[number]): fc.Arbitrary<Scenario> => {
  const client = fc.record({
    era: fc.constantFrom('legacy' as const, 'modern' as const),
    steps: fc.noBias(fc.array(step, { minLength: 1, maxLength: 8, size: 'max' })),
  });
  const clients = fc.noBias(fc.array(client, { minLength: 1, maxLength: 4, size: 'max' }));
  return fc.record({
    plans: plans(outcome),
    clients: fc
      .tuple(first, clients)
      .map(([begins, [one, ...others]]) => [
        { era: 'modern', ...one, steps: [begins, ...(one?.steps ?? [])] },
        ...others,
      ]),
    faults,
    sweepAt: fc.constantFrom(0, 10, 30, 50),
    skews: fc.array(fc.constantFrom(0, 0, 0, -2, 2), { maxLength: 4 }),
    choices: fc.noBias(fc.array(fc.nat(2 ** 31 - 1), { maxLength: 250, size: 'max' })),
  });
};

/** Tools that do not wait. */
export const talks: fc.Arbitrary<Scenario> = fc.oneof(...HABITS.map(scenarioOf));
/** Tools that wait. */
export const waits: fc.Arbitrary<Scenario> = fc.oneof(...WAITING_HABITS.map(scenarioOf));
export const scenarios: fc.Arbitrary<Scenario> = fc.oneof(
  { weight: HABITS.length, arbitrary: talks },
  { weight: WAITING_HABITS.length, arbitrary: waits },
);
