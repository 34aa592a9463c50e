import { createRandom, type Fault } from '../../../../../local/testing.ts';
import type { Outage, PlannedTask } from '../plan.ts';
import { asks } from '../tools.ts';

export const VERBS = ['cancel', 'fail', 'answer', 'rerun'] as const;

/** One act of an operator on the task of a client. */
export interface PlannedAct {
  readonly verb: (typeof VERBS)[number];
  /** The number of the planned task. */
  readonly task: number;
  /** So many ms into the schedule. */
  readonly afterMs: number;
  readonly force: boolean;
  /** How the operator names the task: by its id, by the end of it, or by an end that another task has, too. */
  readonly named: 'id' | 'end' | 'twin';
  /** One kind of call that fails while the act is under way. */
  readonly trouble: Outage | undefined;
}

/** One after the other, each operator carries out the acts. */
export interface PlannedOperator {
  readonly acts: readonly PlannedAct[];
  /** On what is still open once its deadline has passed, and no write has said so. */
  readonly late: readonly PlannedAct[];
  /** Runs all tasks again that have failed, once the faults have ended. */
  readonly rerunsFailed: boolean;
}

const PERIOD = 1_500;
/** As many attempts as the clients of AWS make of one call, or fewer. */
const ATTEMPTS = 5;
/** The calls of each verb that matter most: those that write, start and stop. */
const CALLS: Readonly<Record<PlannedAct['verb'], readonly Pick<Outage, 'service' | 'operation'>[]>> = {
  cancel: [dynamoDb('UpdateItem'), dynamoDb('UpdateItem'), dynamoDb('Query'), states('StopExecution')],
  fail: [dynamoDb('UpdateItem'), dynamoDb('UpdateItem'), dynamoDb('Query'), states('StopExecution')],
  answer: [dynamoDb('UpdateItem'), dynamoDb('UpdateItem'), states('StartExecution')],
  rerun: [dynamoDb('PutItem'), states('StartExecution'), states('StartExecution'), states('DescribeExecution')],
};

/** Two operators, who often do the same at the same moment. */
export function operatorsOf(seed: number, tasks: readonly PlannedTask[]): PlannedOperator[] {
  const random = createRandom(`operators ${seed}`);
  const chance = (share: number) => random.number() < share;
  const upTo = (most: number) => Math.floor(random.number() * (most + 1));
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;

  const trouble = (verb: PlannedAct['verb']): Outage => {
    const at = pick(['before', 'after', 'after'] as const);
    const faults: Fault[] = at === 'after' ? ['drop'] : ['drop', { error: 'InternalServerError', status: 500 }];
    return { ...pick(CALLS[verb]), at, first: pick([0, 0, 0, 1]), calls: pick([1, 1, ATTEMPTS]), fault: pick(faults) };
  };
  const act = (): PlannedAct => {
    const verb = pick([...VERBS, 'rerun', 'answer'] as const);
    const asking = tasks.filter(asks);
    const { number } = pick(verb === 'answer' && asking.length > 0 ? asking : tasks);
    return {
      ...{ verb, task: number, afterMs: upTo(PERIOD), force: chance(0.3) },
      named: pick(['id', 'id', 'id', 'id', 'id', 'end', 'end', 'twin'] as const),
      trouble: chance(0.5) ? trouble(verb) : undefined,
    };
  };
  /** The same, or another act on the same task. */
  const beside = (one: PlannedAct): PlannedAct => {
    const verb = chance(0.7) ? one.verb : pick(VERBS);
    return { ...one, verb, named: 'id', trouble: chance(0.3) ? trouble(verb) : undefined };
  };
  const byTime = (acts: PlannedAct[]) => acts.sort((a, b) => a.afterMs - b.afterMs);
  const [first, late] = [Array.from({ length: 3 + upTo(2) }, act), Array.from({ length: 2 }, act)];
  const rerunsFailed = chance(0.6);
  return [
    { acts: byTime(first), late, rerunsFailed },
    {
      acts: byTime([...first.filter(() => chance(0.5)).map(beside), act()]),
      late: late.map(beside),
      rerunsFailed: rerunsFailed && chance(0.5),
    },
  ];
}

function dynamoDb(operation: string): Pick<Outage, 'service' | 'operation'> {
  return { service: 'dynamodb', operation };
}

function states(operation: string): Pick<Outage, 'service' | 'operation'> {
  return { service: 'states', operation };
}
