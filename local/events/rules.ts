import { busNameOf, DEFAULT_BUS } from '../bus-name.ts';
import { isObject, type JsonObject, listOf, numberOf, objectOf, stringOf } from '../json.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import { unknownValue } from '../template/resources.ts';
import { rateMs } from '../template/schedule.ts';
import type { Specs } from '../template/specs.ts';
import { OF_AWS, STATUS_CHANGE } from './event.ts';
import { compilePattern, type Matches } from './pattern.ts';

export interface Target {
  readonly kind: 'function' | 'queue';
  readonly arn: string;
  /** The text that the target gets instead of the event. */
  readonly input?: string;
  /** Retries of deliveries. Lambda retries invocations. */
  readonly maximumRetryAttempts: number;
  readonly maximumEventAgeSeconds: number;
  /** The queue for events that could not be delivered. */
  readonly deadLetterArn?: string;
}

export interface Rule extends Pick<Resource, 'logicalId' | 'name' | 'account' | 'region'> {
  readonly arn: string;
  readonly bus: string;
  readonly everyMs: number | undefined;
  readonly matches: Matches | undefined;
  readonly targets: readonly Target[];
}

/** The enabled rules. Refuses unknown properties of any rule. */
export function readRules(stacks: readonly ResolvedStack[], specs: Specs, buses: ReadonlyMap<string, string>): Rule[] {
  const resources = stacks.flatMap((stack) => stack.resources).filter(({ type }) => type === 'AWS::Events::Rule');
  const arns = {
    functions: new Set(specs.functions.map(({ arn }) => arn)),
    queues: new Set(specs.queues.map(({ arn }) => arn)),
  };
  return resources.flatMap((resource) => {
    const { State = 'ENABLED', Targets, EventBusName } = resource.properties;
    if (State !== 'ENABLED' && State !== 'DISABLED') throw unknownValue(resource, 'State', State);
    const { logicalId, name, account, region, arn = '' } = resource;
    const bus = busNameOf(EventBusName);
    if (!buses.has(bus)) throw unknownValue(resource, 'EventBusName', EventBusName);
    const rule: Rule = {
      logicalId,
      name,
      account,
      region,
      arn,
      bus,
      everyMs: readSchedule(resource, bus),
      matches: readPattern(resource, bus),
      targets: listOf(Targets).map((target) => readTarget(resource, target, arns)),
    };
    return State === 'ENABLED' ? [rule] : [];
  });
}

function readSchedule(resource: Resource, bus: string): number | undefined {
  const { ScheduleExpression } = resource.properties;
  if (ScheduleExpression === undefined) return undefined;
  const ms = rateMs(String(ScheduleExpression));
  // "You can only create scheduled rules using the default event bus."
  if (ms === undefined || bus !== DEFAULT_BUS) throw unknownValue(resource, 'ScheduleExpression', ScheduleExpression);
  return ms;
}

/**
 * Reads a pattern. The only events of AWS services here are status changes of executions, on the default bus. A rule
 * that is for other events of AWS, or may match them, is refused: it would behave differently here.
 */
function readPattern(resource: Resource, bus: string): Matches | undefined {
  const { EventPattern } = resource.properties;
  if (EventPattern === undefined) return undefined;
  const pattern = objectOf(EventPattern);
  const sources = listOf(pattern.source);
  const ofClients = sources.length > 0 && sources.every((one) => typeof one === 'string' && !one.startsWith(OF_AWS));
  if (bus === DEFAULT_BUS ? !ofClients : mentionsAws(sources)) checkStatusChange(resource, pattern);
  return compilePattern(pattern, (path, value) => {
    throw unknownValue(resource, path, value);
  });
}

const mentionsAws = (sources: readonly unknown[]) => sources.some((one) => String(one).startsWith(OF_AWS));

function checkStatusChange(resource: Resource, pattern: JsonObject): void {
  for (const [field, only] of Object.entries(STATUS_CHANGE)) {
    const wanted = pattern[field];
    const open = field !== 'source' && wanted === undefined;
    if (!open && !(Array.isArray(wanted) && wanted.length === 1 && wanted[0] === only)) {
      throw unknownValue(resource, `EventPattern.${field}`, wanted);
    }
  }
}

function readTarget(
  resource: Resource,
  target: unknown,
  { functions, queues }: { functions: ReadonlySet<string>; queues: ReadonlySet<string> },
): Target {
  const { Arn, Input, RetryPolicy, DeadLetterConfig } = objectOf(target);
  const { MaximumRetryAttempts, MaximumEventAgeInSeconds } = objectOf(RetryPolicy);
  const arn = String(Arn);
  if (!functions.has(arn) && !queues.has(arn)) throw unknownValue(resource, 'Targets[].Arn', Arn);
  const deadLetterArn = isObject(DeadLetterConfig) ? stringOf(DeadLetterConfig.Arn) : undefined;
  if (deadLetterArn !== undefined && !queues.has(deadLetterArn)) {
    throw unknownValue(resource, 'Targets[].DeadLetterConfig.Arn', deadLetterArn);
  }
  return {
    kind: queues.has(arn) ? 'queue' : 'function',
    arn,
    maximumRetryAttempts: numberOf(MaximumRetryAttempts) ?? 185,
    maximumEventAgeSeconds: numberOf(MaximumEventAgeInSeconds) ?? 86_400,
    ...(Input === undefined ? {} : { input: String(Input) }),
    ...(deadLetterArn === undefined ? {} : { deadLetterArn }),
  };
}
