import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArnFormat, Aws, Lazy, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import {
  CustomerManagedEncryptionConfiguration,
  DefinitionBody,
  type IStateMachine,
  type LogLevel,
  StateMachine,
  StateMachineType,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Engine } from '../../functions/tasks/engines.ts';
import { roleOf } from '../server-function.ts';
import { keyStatements } from '../storage/kms-grants.ts';
import { logs, type StorageProps } from '../storage/log-group.ts';
import { definition } from '../workflow/definition.ts';

export interface ToolWorkflowProps {
  readonly engine: Engine;
  /** The name of every tool workflow of this server begins with it. The engine is the rest. */
  readonly machinePrefix: string;
  readonly table: ITable;
  readonly results: IBucket;
  /** Writes the ends whose results do not fit into a record. */
  readonly outcomes: IFunction;
  /** The URL before the owner of a task, in the URLs of its links and webhooks. */
  readonly signalsUrl: string;
  /** How long a task can be read at most, in ms. */
  readonly maxTtl: number;
  readonly logLevel: LogLevel;
  readonly storage: StorageProps;
}

/**
 * The workflow that runs all tools of one engine. Its role may run these tools and update one table. The definition is data:
 * `lib/workflow/*.asl.json` and the expressions beside them. It is an asset, as the text of a template is bounded.
 */
export class ToolWorkflow extends Construct {
  readonly stateMachine: IStateMachine;
  readonly #role: Role;
  /** What runs, by tool: the ARN of a function or of a state machine. */
  readonly #tools = new Map<string, string>();
  readonly #repeatable: string[] = [];

  constructor(scope: Construct, id: string, props: ToolWorkflowProps) {
    super(scope, id);
    const { engine, machinePrefix, table, results, outcomes, signalsUrl, maxTtl, logLevel, storage } = props;
    const stateMachineName = `${machinePrefix}${engine}`;
    this.#role = roleOf('states', this, 'Role');
    const folder = mkdtempSync(join(tmpdir(), 'tool-workflow-'));
    try {
      const file = join(folder, `${engine}.asl.json`);
      // Each partition names its integrations in itself.
      writeFileSync(file, definition(engine).replaceAll('arn:aws:', 'arn:${Partition}:'));
      this.stateMachine = new StateMachine(this, 'StateMachine', {
        stateMachineName,
        stateMachineType: engine === 'express' ? StateMachineType.EXPRESS : StateMachineType.STANDARD,
        role: this.#role,
        definitionBody: DefinitionBody.fromFile(file),
        definitionSubstitutions: {
          [engine === 'machine' ? 'StateMachines' : 'Functions']: Lazy.string({ produce: () => this.#listed() }),
          ...(engine === 'standard' && {
            RepeatableTools: Lazy.string({ produce: () => `[${this.#repeatable.map(quoted).join(', ')}]` }),
          }),
          Partition: Aws.PARTITION,
          TableName: table.tableName,
          ResultsBucket: results.bucketName,
          OutcomeFunctionArn: outcomes.functionArn,
          ...(engine !== 'machine' && { SignalsUrl: signalsUrl, MaxTtl: String(maxTtl) }),
        },
        tracingEnabled: true,
        ...(storage.encryptionKey && {
          encryptionConfiguration: new CustomerManagedEncryptionConfiguration(storage.encryptionKey),
        }),
        logs: {
          level: logLevel,
          includeExecutionData: false,
          destination: logs(this, storage, 'Logs', `/aws/vendedlogs/states/${stateMachineName}`),
        },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
    this.#allow(['dynamodb:UpdateItem'], table.tableArn);
    this.#allow(['lambda:InvokeFunction'], outcomes.functionArn);
    if (engine === 'machine') {
      // Step Functions makes a rule with this role: by the rule it sees that an execution has ended.
      const resourceName = 'StepFunctionsGetEventsForStepFunctionsExecutionRule';
      const rule = Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName });
      this.#allow(['events:PutTargets', 'events:PutRule', 'events:DescribeRule'], rule);
    }
    for (const statement of keyStatements(this, storage.encryptionKey, ['dynamodb'])) this.#add(statement);
  }

  /** @param arn the function or state machine that is the tool. `repeatable`: a run that may have had effects can be repeated */
  addTool(tool: string, arn: string, statements: readonly PolicyStatement[], repeatable: boolean): void {
    this.#tools.set(tool, arn);
    if (repeatable) this.#repeatable.push(tool);
    for (const statement of statements) this.#add(statement);
  }

  /** A JSONata object. It becomes part of a text in JSON, so it has no double quotes. */
  #listed(): string {
    return `{${[...this.#tools].map(([tool, arn]) => `${quoted(tool)}: ${quoted(arn)}`).join(', ')}}`;
  }

  #allow(actions: string[], resource: string): void {
    this.#add(new PolicyStatement({ actions, resources: [resource] }));
  }

  #add(statement: PolicyStatement): void {
    this.#role.addToPrincipalPolicy(statement);
  }
}

const quoted = (text: string): string => `'${text}'`;

/** Makes the ARN from the name, so the policy of the endpoint needs no reference to each machine. */
export function machineArn(scope: Construct, name: string): string {
  return Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
