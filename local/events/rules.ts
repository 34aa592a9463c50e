import { isObject, listOf, numberOf, objectOf, stringOf } from '../json.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import { rateMs } from '../template/schedule.ts';
import { type Specs, unknownValue } from '../template/specs.ts';
import { STATUS_CHANGE } from './event.ts';
import { compilePattern, type Matches } from './pattern.ts';

export interface Target {
  readonly functionArn: string;
  /** Sent to the function instead of the event. */
  readonly input?: string;
  /** Retries of deliveries. Lambda retries invocations. */
  readonly maximumRetryAttempts: number;
  readonly maximumEventAgeSeconds: number;
  /** The queue for events that could not be delivered. */
  readonly deadLetterArn?: string;
}

export interface Rule extends Pick<Resource, 'logicalId' | 'name' | 'account' | 'region'> {
  readonly arn: string;
  readonly everyMs: number | undefined;
  readonly matches: Matches | undefined;
  readonly targets: readonly Target[];
}

/** The enabled rules. Refuses unknown properties of any rule. */
export function readRules(stacks: readonly ResolvedStack[], specs: Specs): Rule[] {
  const resources = stacks.flatMap((stack) => stack.resources).filter(({ type }) => type === 'AWS::Events::Rule');
  const arns = {
    functions: new Set(specs.functions.map(({ arn }) => arn)),
    queues: new Set(specs.queues.map(({ arn }) => arn)),
  };
  return resources.flatMap((resource) => {
    const { State = 'ENABLED', Targets } = resource.properties;
    if (State !== 'ENABLED' && State !== 'DISABLED') throw unknownValue(resource, 'State', State);
    const { logicalId, name, account, region, arn = '' } = resource;
    const rule: Rule = {
      logicalId,
      name,
      account,
      region,
      arn,
      everyMs: readSchedule(resource),
      matches: readPattern(resource),
      targets: listOf(Targets).map((target) => readTarget(resource, target, arns)),
    };
    return State === 'ENABLED' ? [rule] : [];
  });
}

function readSchedule(resource: Resource): number | undefined {
  const { ScheduleExpression } = resource.properties;
  if (ScheduleExpression === undefined) return undefined;
  const ms = rateMs(String(ScheduleExpression));
  if (ms === undefined) throw unknownValue(resource, 'ScheduleExpression', ScheduleExpression);
  return ms;
}

/** Refuses other sources: only status changes of executions occur here, so another rule would never match. */
function readPattern(resource: Resource): Matches | undefined {
  const { EventPattern } = resource.properties;
  if (EventPattern === undefined) return undefined;
  const pattern = objectOf(EventPattern);
  for (const [field, only] of Object.entries(STATUS_CHANGE)) {
    const wanted = pattern[field];
    const open = field !== 'source' && wanted === undefined;
    if (!open && !(Array.isArray(wanted) && wanted.length === 1 && wanted[0] === only)) {
      throw unknownValue(resource, `EventPattern.${field}`, wanted);
    }
  }
  return compilePattern(pattern, (path, value) => {
    throw unknownValue(resource, path, value);
  });
}

function readTarget(
  resource: Resource,
  target: unknown,
  { functions, queues }: { functions: ReadonlySet<string>; queues: ReadonlySet<string> },
): Target {
  const { Arn, Input, RetryPolicy, DeadLetterConfig } = objectOf(target);
  const { MaximumRetryAttempts, MaximumEventAgeInSeconds } = objectOf(RetryPolicy);
  if (!functions.has(String(Arn))) throw unknownValue(resource, 'Targets[].Arn', Arn);
  const deadLetterArn = isObject(DeadLetterConfig) ? stringOf(DeadLetterConfig.Arn) : undefined;
  if (deadLetterArn !== undefined && !queues.has(deadLetterArn)) {
    throw unknownValue(resource, 'Targets[].DeadLetterConfig.Arn', deadLetterArn);
  }
  return {
    functionArn: String(Arn),
    maximumRetryAttempts: numberOf(MaximumRetryAttempts) ?? 185,
    maximumEventAgeSeconds: numberOf(MaximumEventAgeInSeconds) ?? 86_400,
    ...(Input === undefined ? {} : { input: String(Input) }),
    ...(deadLetterArn === undefined ? {} : { deadLetterArn }),
  };
}
