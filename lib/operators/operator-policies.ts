import { Fn, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import {
  ANSWERED,
  ENDED,
  EVENTS_PARTITION,
  INDEXES,
  KEY,
  OWNERS,
  PAYLOAD,
  RUN_QUERIES,
  SHOWN,
  SUBSCRIPTION_ENDED,
  SUBSCRIPTION_SHOWN,
} from '../../functions/tasks/attributes.ts';
import { acknowledgeWildcard } from '../nag.ts';
import { keyStatements } from '../storage/kms-grants.ts';
import { machineArn } from '../tools/tool-workflow.ts';

export interface OperatorPoliciesProps {
  readonly table: ITable;
  readonly results: IBucket;
  readonly deadLetters: readonly IQueue[];
  /** The logs of the server itself, which hold no text of a client or a tool. */
  readonly logs: readonly ILogGroup[];
  /** The name of every tool workflow of this server begins with it. */
  readonly machinePrefix: string;
  readonly encryptionKey: IKey | undefined;
  /** Whether the server has MCP Events. */
  readonly events: boolean;
}

/** Policies with the rights of `mcp-task-server tasks`: attach them to the roles of your operators. */
export interface OperatorPolicies {
  /** Allows `list`, `show`, `explain`, `logs`, `subscriptions`: no argument, question, answer, result or message of a tool. */
  readonly read: ManagedPolicy;
  /** Allows `cancel`, `fail` and `unsubscribe`, in addition to `read`. */
  readonly act: ManagedPolicy;
  /**
   * Allows reads of arguments, questions, answers, results, inputs of runs and log lines of tools, in addition to `read`.
   * Also allows `answer` and `rerun`, which can start any tool of the server with any input.
   */
  readonly payload: ManagedPolicy;
}

/** Makes the policies directly in `scope`. They cost nothing, and no role has them until you attach them. */
export function operatorPolicies(scope: Construct, props: OperatorPoliciesProps): OperatorPolicies {
  const { table, results, deadLetters, logs, machinePrefix, encryptionKey, events } = props;
  const stack = Stack.of(scope);
  const machines = machineArn(scope, `${machinePrefix}*`);
  const executions = `${machines.replace(':stateMachine:', ':execution:')}:*`;
  const statusIndex = `${table.tableArn}/index/status`;
  const reads = (action: string, attributes: readonly string[], ...resources: string[]) =>
    new PolicyStatement({
      actions: [action],
      resources,
      conditions: {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
        // ForAllValues holds for a request without the key, and a request without a projection reads all attributes.
        StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
      },
    });
  const allow = (actions: string[], ...resources: string[]) => new PolicyStatement({ actions, resources });
  const writes = (action: string, attributes?: readonly string[]) =>
    new PolicyStatement({
      actions: [action],
      resources: [table.tableArn],
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': OWNERS },
        // ForAllValues holds for a request without the key.
        Null: { 'dynamodb:LeadingKeys': 'false' },
        ...(attributes && { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes } }),
        StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
      },
    });
  // These items are of subscriptions and events: `arguments` says which tasks one is about.
  const onEvents = (action: string, attributes: readonly string[], more: object) =>
    new PolicyStatement({
      actions: [action],
      resources: [table.tableArn],
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${EVENTS_PARTITION}*`] },
        Null: { 'dynamodb:LeadingKeys': 'false' },
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
        StringEqualsIfExists: more,
      },
    });
  const readEvents = (...urls: string[]) => {
    const attributes = [KEY.partition, KEY.sort, ...SUBSCRIPTION_SHOWN, 'event', ...urls];
    return events ? [onEvents('dynamodb:Query', attributes, { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' })] : [];
  };
  const endEvents = () =>
    events ? [onEvents('dynamodb:DeleteItem', SUBSCRIPTION_ENDED, { 'dynamodb:ReturnValues': 'NONE' })] : [];
  // The name of a log group begins with the name of the stack, unless it was given another one.
  const toolLogs = stack.formatArn({ service: 'logs', resource: 'log-group', resourceName: '' }).replace(/\/$/, ':');
  const stackLogs = Fn.join('', [toolLogs, stack.stackName, '-*']);
  // These have names of errors, and perhaps their causes, which tools write: so they are not in `read`.
  const runLogs = `${toolLogs}/aws/vendedlogs/states/${machinePrefix}*`;
  const stackId = stack.formatArn({
    service: 'cloudformation',
    resource: 'stack',
    resourceName: `${stack.stackName}/*`,
  });
  acknowledgeWildcard(scope, stackId, 'The id of the stack is behind its name');
  acknowledgeWildcard(scope, stackLogs, 'The log groups of the tools of the stack');
  acknowledgeWildcard(scope, runLogs, 'The log groups of the tool workflows');

  return {
    read: new ManagedPolicy(scope, 'OperatorRead', {
      description: 'Lists and explains MCP tasks, without what clients and tools wrote',
      statements: [
        reads('dynamodb:Query', [...SHOWN, INDEXES.status.partition], table.tableArn, statusIndex),
        reads('dynamodb:BatchGetItem', SHOWN, table.tableArn),
        ...readEvents(),
        allow(['states:ListExecutions'], machines),
        allow(['logs:FilterLogEvents'], ...logs.map(({ logGroupArn }) => logGroupArn)),
        allow(['sqs:GetQueueAttributes'], ...deadLetters.map(({ queueArn }) => queueArn)),
        allow(['cloudformation:ListStackResources', 'cloudformation:DescribeStackResource'], stackId),
        ...keyStatements(scope, encryptionKey, ['dynamodb']),
      ],
    }),
    act: new ManagedPolicy(scope, 'OperatorAct', {
      description: 'Ends MCP tasks',
      statements: [
        writes('dynamodb:UpdateItem', ENDED),
        ...endEvents(),
        allow(['states:StopExecution'], executions),
        ...keyStatements(scope, encryptionKey, ['dynamodb', 'states']),
      ],
    }),
    payload: new ManagedPolicy(scope, 'OperatorPayload', {
      description: 'Reads what the clients and tools of MCP tasks wrote, answers tasks and runs them again',
      statements: [
        reads('dynamodb:Query', [...new Set([...SHOWN, ...PAYLOAD, ...RUN_QUERIES])], table.tableArn),
        ...readEvents('url'),
        writes('dynamodb:UpdateItem', ANSWERED),
        writes('dynamodb:PutItem'),
        allow(['s3:PutObject'], results.arnForObjects('inputs/*')),
        allow(['states:StartExecution'], machines),
        allow(
          ['s3:GetObject'],
          ...['inputs/*', 'results/*', 'outcomes/*', 'steps/*'].map((keys) => results.arnForObjects(keys)),
        ),
        allow(['states:DescribeExecution', 'states:GetExecutionHistory', 'states:StopExecution'], executions),
        allow(['logs:FilterLogEvents'], stackLogs, runLogs),
        ...keyStatements(scope, encryptionKey, ['dynamodb', 's3Read', 's3Write', 'states']),
      ],
    }),
  };
}
