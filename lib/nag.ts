import { Stack, Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { OperationProps } from './server-props.ts';

/** The findings of cdk-nag's AwsSolutions and Serverless rules in a server, each with its reason. */
const SERVER = {
  'AwsSolutions-S1':
    'Large results are read and written by the functions of this server only, which log what they do; they expire in days',
  'AwsSolutions-APIG2': 'The endpoint validates: JSON-RPC errors have a form that API Gateway cannot give',
  'AwsSolutions-APIG4':
    'Who may call is for `auth` to say; anonymous access is chosen by name, and preflights carry no credentials',
  'AwsSolutions-APIG6': 'Execution logs would hold what callers and tools say',
  'AwsSolutions-COG4': 'Tokens of any issuer are checked by an authorizer of this server, where there is one',
  'AwsSolutions-SQS3': 'It is the dead letter queue',
  'Serverless-SQSRedrivePolicy': 'It is the dead letter queue',
  'Serverless-EventBusDLQ': 'A tick of the sweep that is lost is not missed: the next is a minute away',
  'Serverless-LambdaDLQ':
    'Invoked by callers who wait for the answer; the reconciler, which is not, has a destination for what it cannot settle',
  'Serverless-LambdaTracing':
    'The endpoint and the tool workflows are traced; a sweep each minute, an authorizer and a rotation show nothing more',
} as const;

const EVERYWHERE = 'X-Ray, log delivery and ListStreams have no resources that a policy could name';

const NO_ACCESS_LOGS =
  'Logs of API Gateway need a role that is set for the whole account, which a construct must not change: see accessLogs';
const LESS_LOGS = 'The log level is an option: see workflowLogLevel';
const NO_WAF = 'A web ACL costs money, and is an option: see waf';

/** Acknowledges the findings of a server that have a reason. */
export function acknowledgeServer(server: Construct, { accessLogs, waf, workflowLogLevel }: OperationProps): void {
  const rules = Object.entries({
    ...SERVER,
    ...(accessLogs !== true && {
      'AwsSolutions-APIG1': NO_ACCESS_LOGS,
      'Serverless-APIGWAccessLogging': NO_ACCESS_LOGS,
    }),
    ...(waf === undefined && { 'AwsSolutions-APIG3': NO_WAF }),
    ...(workflowLogLevel !== undefined && { 'AwsSolutions-SF1': LESS_LOGS }),
  }).map(([id, reason]) => ({ id, reason }));
  Validations.of(server).acknowledge(...rules, { id: 'AwsSolutions-IAM5[Resource::*]', reason: EVERYWHERE });
}

/** Acknowledges the findings of the queue of deliveries, and of the mapping that reads it. */
export function acknowledgeDeliveries(scope: Construct): void {
  const reason =
    'A delivery is tried until it is too old; a letter apart from its subscription would come out of order';
  Validations.of(scope).acknowledge(
    { id: 'AwsSolutions-SQS3', reason },
    { id: 'Serverless-SQSRedrivePolicy', reason },
    { id: 'Serverless-LambdaEventSourceMappingDestination', reason },
  );
}

/** Acknowledges the finding of a tool's function. */
export function acknowledgeToolFunction(scope: Construct): void {
  Validations.of(scope).acknowledge(
    { id: 'Serverless-LambdaDLQ', reason: 'Invoked by a workflow or an endpoint that waits for the answer' },
    { id: 'Serverless-LambdaTracing', reason: 'Its runs are traced by the tool workflow; more is a prop: tracing' },
  );
}

/** Acknowledges a statement with a wildcard in its resource. */
export function acknowledgeWildcard(scope: Construct, arn: string, reason: string): void {
  const id = `AwsSolutions-IAM5[Resource::${flat(Stack.of(scope).resolve(arn))}]`;
  Validations.of(scope).acknowledge({ id, reason });
}

/** Writes a value that only the deployment knows, as cdk-nag does. */
function flat(value: string | object): string {
  if (typeof value === 'string') return value;
  const [name, argument] = Object.entries(value)[0] ?? [];
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt') return `<${argument.join('.')}>`;
  if (name === 'Fn::Join') return argument[1].map(flat).join(argument[0]);
  return JSON.stringify(value);
}
