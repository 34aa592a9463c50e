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
 * The function surely did not run: it is safe to try again even for a tool with side effects. Beside throttling these are
 * functions that are not ready: just made or updated, idle for weeks, or still without their network, files or snapshot.
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
  // As Lambda's API spells them, and as the classes of the Java SDKs do, from which Step Functions takes its names.
  ...['EC2ThrottledException', 'Ec2ThrottledException'],
  ...['ENILimitReachedException', 'EniLimitReachedException'],
  ...['ENINotReadyException', 'EniNotReadyException'],
  ...['SubnetIPAddressLimitReachedException', 'SubnetIpAddressLimitReachedException'],
  ...['EFSMountConnectivityException', 'EfsMountConnectivityException'],
  ...['EFSMountTimeoutException', 'EfsMountTimeoutException'],
].map((name) => `Lambda.${name}`);

/** The function may have run: Step Functions cannot tell. Tried again only for a tool that may be repeated. */
const PERHAPS_EXECUTED = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
];

/** The function ran and its runtime died. Tried again only for a tool that may be repeated. */
const CRASHED = ['Runtime.ExitError', 'Lambda.Unknown'];

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
 * The state machine of one tool: its role may run the tool and update one table, and its metrics are the tool's. The
 * definition is data: `workflow/*.asl.json` and the expressions beside them.
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
  const errors: Readonly<Record<string, readonly string[]>> = {
    '<not executed>': NOT_EXECUTED,
    '<perhaps executed>': repeatable ? PERHAPS_EXECUTED : [],
    '<crashed>': repeatable ? CRASHED : [],
  };
  return JSON.parse(workflowFile(file), (_key, value: unknown) => {
    if (typeof value === 'string') return include(value);
    if (!Array.isArray(value)) return value;
    const named = value.flatMap((item) => (typeof item === 'string' ? (errors[item] ?? item) : item));
    // A retrier without errors is none.
    return named.filter((item) => (item as { ErrorEquals?: unknown[] } | null)?.ErrorEquals?.length !== 0);
  }) as Asl;
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
