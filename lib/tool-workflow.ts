import { readFileSync } from 'node:fs';
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import {
  CustomerManagedEncryptionConfiguration,
  DefinitionBody,
  LogLevel,
  StateMachine,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { keyStatements } from './key-use.ts';
import { type Keeping, logs } from './logs.ts';
import type { ToolRun } from './tool-run.ts';

/**
 * Surely not executed: safe to try again even for a tool with side effects. Beside throttling, a function that is not
 * there yet: made or updated just now, idle for weeks, or still without its network, its files or its snapshot.
 */
const NOT_EXECUTED = [
  'TooManyRequestsException',
  'ResourceConflictException',
  'ResourceNotReadyException',
  'CodeArtifactUserPendingException',
  'SnapStartNotReadyException',
  'SnapStartTimeoutException',
  'S3FilesMountConnectivityException',
  'S3FilesMountTimeoutException',
  // As Lambda writes them, and as the Java SDK does, whose names Step Functions gives to errors of its SDK integrations.
  ...['EC2ThrottledException', 'Ec2ThrottledException'],
  ...['ENILimitReachedException', 'EniLimitReachedException'],
  ...['ENINotReadyException', 'EniNotReadyException'],
  ...['SubnetIPAddressLimitReachedException', 'SubnetIpAddressLimitReachedException'],
  ...['EFSMountConnectivityException', 'EfsMountConnectivityException'],
  ...['EFSMountTimeoutException', 'EfsMountTimeoutException'],
].map((name) => `Lambda.${name}`);
/** May have executed: tried again only when the tool says that does no harm. */
const TRANSIENT = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.LambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
];

/** The runtime died under the function. Its error reaches the workflow as a result, so `finished.jsonata` throws it again. */
const CRASHES = "['Runtime.ExitError', 'Lambda.Unknown']";

export interface ToolWorkflowProps {
  readonly machineName: string;
  readonly run: ToolRun;
  readonly table: TableV2;
  readonly results: Bucket;
  /** In seconds. */
  readonly timeout: number;
  readonly keeping: Keeping;
}

/**
 * The state machine of one tool (design section 5): its role may run the tool and update one table, and its metrics
 * are the tool's. The definition is data: `workflow/*.asl.json` and the expressions beside them.
 */
export class ToolWorkflow extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: ToolWorkflowProps) {
    super(scope, id);
    const { encryptionKey } = props.keeping;
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
      inlinePolicies: {
        RunAndFinish: new PolicyDocument({
          statements: [
            ...props.run.statements,
            new PolicyStatement({ actions: ['dynamodb:UpdateItem'], resources: [props.table.tableArn] }),
            ...keyStatements(this, encryptionKey, ['dynamodb']),
          ],
        }),
      },
    });
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineName: props.machineName,
      role,
      definitionBody: DefinitionBody.fromString(props.run.definition),
      definitionSubstitutions: {
        ...props.run.substitutions,
        TableName: props.table.tableName,
        ResultsBucket: props.results.bucketName,
        ToolTimeoutSeconds: String(props.timeout),
      },
      tracingEnabled: true,
      ...(encryptionKey && { encryptionConfiguration: new CustomerManagedEncryptionConfiguration(encryptionKey) }),
      logs: {
        level: LogLevel.ALL,
        includeExecutionData: false,
        destination: logs(this, props.keeping, 'Logs', `/aws/vendedlogs/states/${props.machineName}`),
      },
    });
  }
}

/** ARNs by name, so that the endpoint's policy needs no reference to each machine. */
export function machineArn(scope: Construct, name: string): string {
  return Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

interface Asl {
  readonly States: Readonly<Record<string, unknown>>;
}

/** The very text that AWS and the embedded cloud run, for a tool that is a function. */
export function definition(repeatable: boolean): string {
  return JSON.stringify(asl('tool.asl.json', repeatable));
}

/** The same for a tool that is a state machine: other states run it, the same ones finish. */
export function machineDefinition(): string {
  const { Finish, Superseded } = asl('tool.asl.json', false).States;
  const machine = asl('machine-tool.asl.json', false);
  return JSON.stringify({ ...machine, States: { ...machine.States, Finish, Superseded } });
}

function asl(file: string, repeatable: boolean): Asl {
  return JSON.parse(workflowFile(file), (_key, value: unknown) => {
    if (Array.isArray(value)) return value.flatMap((item) => retrier(item, repeatable));
    return typeof value === 'string' ? include(value).replaceAll('<crashes>', repeatable ? CRASHES : '[]') : value;
  }) as Asl;
}

/** Which errors a run is tried again after; no retrier at all where there are none. */
function retrier(item: unknown, repeatable: boolean): unknown[] {
  if (item === '<retryable errors>') return repeatable ? [...NOT_EXECUTED, ...TRANSIENT] : NOT_EXECUTED;
  if (item === '<crashed>') return repeatable ? ['States.QueryEvaluationError'] : [];
  const errors = (item as { ErrorEquals?: unknown[] } | null)?.ErrorEquals;
  return errors?.length === 0 ? [] : [item];
}

/** Replaces `<name.jsonata>` by that file's expression, without its comments. */
export function include(text: string): string {
  return text.replace(/<([a-z-]+\.jsonata)>/g, (_match, file: string) =>
    include(
      workflowFile(file)
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\s*\n\s*/g, ' ')
        .trim(),
    ),
  );
}

function workflowFile(name: string): string {
  return readFileSync(new URL(`./workflow/${name}`, import.meta.url), 'utf8');
}
