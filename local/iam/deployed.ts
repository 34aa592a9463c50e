import { isObject, listOf, objectOf, stringOf } from '../json.ts';
import { partitionOf } from '../partition.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import { definitionText } from '../template/specs.ts';
import type { Iam } from './index.ts';

/**
 * Refuses what makes a deployment fail, or silently incomplete: a role that its service may not assume, or that lacks a
 * permission that the service needs.
 */
export function checkDeployed(
  stacks: readonly ResolvedStack[],
  iam: Iam,
  mappings: readonly SourceReader[] = [],
): void {
  const ofResources = stacks.flatMap(({ stack, resources }) =>
    resources.flatMap((resource) => {
      if (resource.type === 'AWS::Lambda::Function') return functionProblems(resource, resources, iam);
      if (resource.type === 'AWS::SecretsManager::RotationSchedule') return rotationProblems(resource, iam);
      return resource.type === 'AWS::StepFunctions::StateMachine'
        ? machineProblems(resource, definitionText(resource, stack), iam)
        : [];
    }),
  );
  const problems = [...ofResources, ...mappings.flatMap((mapping) => mappingProblems(mapping, iam))];
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

type Requirement = readonly [action: string, resource: string, what: string];

function functionProblems(resource: Resource, all: readonly Resource[], iam: Iam): string[] {
  const { Role, TracingConfig } = resource.properties;
  const traced = objectOf(TracingConfig).Mode === 'Active';
  const config = all.find(
    ({ type, properties }) =>
      type === 'AWS::Lambda::EventInvokeConfig' &&
      [resource.name, resource.arn].includes(String(properties.FunctionName)),
  );
  const destination = stringOf(objectOf(objectOf(config?.properties.DestinationConfig).OnFailure).Destination);
  const needs: Requirement[] = [
    ...(traced ? TRACES.map((action): Requirement => [action, '*', 'its TracingConfig']) : []),
    ...(destination === undefined ? [] : [['sqs:SendMessage', destination, 'its OnFailure destination'] as const]),
  ];
  return roleProblems(resource, 'lambda.amazonaws.com', String(Role), needs, iam);
}

const TRACES = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'];
const SAMPLING = ['xray:GetSamplingRules', 'xray:GetSamplingTargets'];
// "Using CloudWatch Logs to log execution history in Step Functions" and "Execution role for X-Ray" list these.
const LOG_DELIVERY = [
  'CreateLogDelivery',
  'GetLogDelivery',
  'UpdateLogDelivery',
  'DeleteLogDelivery',
  'ListLogDeliveries',
  'PutResourcePolicy',
  'DescribeResourcePolicies',
  'DescribeLogGroups',
].map((action) => `logs:${action}`);
/** The rule by which Step Functions learns that a `.sync` execution has ended. */
const MANAGED_RULE = ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'];
const RULE = 'rule/StepFunctionsGetEventsForStepFunctionsExecutionRule';

function machineProblems(resource: Resource, definition: string, iam: Iam): string[] {
  const { RoleArn, TracingConfiguration, LoggingConfiguration } = resource.properties;
  const logs = listOf(objectOf(LoggingConfiguration).Destinations).length > 0;
  const rule = `arn:${partitionOf(resource.region)}:events:${resource.region}:${resource.account}:${RULE}`;
  const waits = /:states:startExecution\.sync/.test(definition);
  const traced = objectOf(TracingConfiguration).Enabled === true;
  const needs: Requirement[] = [
    ...(logs ? LOG_DELIVERY.map((action): Requirement => [action, '*', 'its LoggingConfiguration']) : []),
    ...(traced ? [...TRACES, ...SAMPLING].map((action): Requirement => [action, '*', 'its TracingConfiguration']) : []),
    ...(waits ? MANAGED_RULE.map((action): Requirement => [action, rule, 'startExecution.sync']) : []),
  ];
  return roleProblems(resource, 'states.amazonaws.com', String(RoleArn), needs, iam);
}

/** Lambda reads a stream, and sends to the destination, with the role of the function ("Execution role permissions"). */
const READ_STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
/** "Execution role permissions" for SQS: Lambda checks them when it makes the mapping. */
const READ_QUEUE = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'];

/** The parts of an event source mapping that need rights. */
interface SourceReader {
  readonly logicalId: string;
  readonly roleArn: string;
  readonly streamArn?: string;
  readonly queueArn?: string;
  /** A queue. */
  readonly onFailure?: string;
}

/** The rights that the role of a function lacks for a mapping, one sentence each. */
export function mappingProblems(
  { logicalId, roleArn, streamArn, queueArn, onFailure }: SourceReader,
  iam: Pick<Iam, 'mayRole'>,
): string[] {
  const needs: (readonly [action: string, resource: string])[] = [
    ...(streamArn === undefined ? [] : READ_STREAM.map((action) => [`dynamodb:${action}`, streamArn] as const)),
    ...(queueArn === undefined ? [] : READ_QUEUE.map((action) => [`sqs:${action}`, queueArn] as const)),
    ...(onFailure === undefined ? [] : [['sqs:SendMessage', onFailure] as const]),
  ];
  const missing = needs.filter(([action, resource]) => !iam.mayRole(roleArn, action, resource));
  return missing.map(
    ([action, resource]) => `${roleArn} may not ${action} on ${resource}, for the event source mapping ${logicalId}`,
  );
}

/** Checks that Secrets Manager may invoke the function: AWS requires this before it accepts the schedule. */
function rotationProblems({ properties: { RotationLambdaARN, SecretId }, where }: Resource, iam: Iam): string[] {
  const [service, action] = ['secretsmanager.amazonaws.com', 'lambda:InvokeFunction'];
  if (iam.mayService(service, action, String(RotationLambdaARN), String(SecretId))) return [];
  return [`${service} may not ${action} on ${RotationLambdaARN}, for its RotationSchedule ${where}`];
}

function roleProblems(
  resource: Resource,
  service: string,
  role: string,
  needs: readonly Requirement[],
  iam: Iam,
): string[] {
  const { where, arn = '' } = resource;
  const missing = needs.filter(([action, target]) => !iam.mayRole(role, action, target));
  return [
    ...(iam.mayAssume(service, role, arn) ? [] : [`${service} may not assume the role ${role} ${where}`]),
    ...missing.map(([action, target, what]) => `${role} may not ${action} on ${target}, for ${what} ${where}`),
  ];
}

/** Whether a function may write its logs. Without that right it runs, but its output is lost. */
export function mayLog({ properties, name, region, account }: Resource, iam: Iam): boolean {
  const { LoggingConfig, Role } = properties;
  const named = isObject(LoggingConfig) ? stringOf(LoggingConfig.LogGroup) : undefined;
  const stream = `arn:${partitionOf(region)}:logs:${region}:${account}:log-group:${named ?? `/aws/lambda/${name}`}:log-stream:*`;
  return ['logs:CreateLogStream', 'logs:PutLogEvents'].every((action) => iam.mayRole(String(Role), action, stream));
}
