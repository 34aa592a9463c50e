import { type Duration, Lazy } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type Code, type IFunction, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { checkEnvironment, invocable, joined, type Listed, listedMachine } from './endpoint-environment.ts';
import { allowEvents, type Events } from './events/events.ts';
import { acknowledgeWildcard } from './nag.ts';
import { allow, serverFunction } from './server-function.ts';
import { allowKey } from './storage/kms-grants.ts';
import type { StorageProps } from './storage/log-group.ts';
import type { MachineRun } from './tools/tool-run.ts';
import { machineArn } from './tools/tool-workflow.ts';

export interface EndpointProps {
  readonly code: Code;
  readonly timeout: Duration;
  readonly table: ITable;
  readonly results: IBucket;
  readonly signingKey: ISecret;
  /** The name of every tool workflow of this server begins with it. */
  readonly machinePrefix: string;
  readonly storage: StorageProps;
  /** Undefined: the server has no MCP Events. */
  readonly events: Events | undefined;
}

/** Bounds of TOOL_FUNCTIONS and TOOL_MACHINES, which list them all: `checkEnvironment` checks that they fit. */
const MAX_DIRECT_FUNCTIONS = 25;
const MAX_STATE_MACHINES = 20;

/** The endpoint function, its rights, and the functions and state machines that it can name. */
export class Endpoint {
  readonly function: IFunction;
  /** Names of the state machines that are tools, joined by commas. Complete at synth. */
  readonly toolMachines: string;
  readonly #props: EndpointProps;
  readonly #functions: Listed[] = [];
  /** The state machines by ARN. */
  readonly #machines = new Map<string, Listed>();

  /** Makes its constructs directly in `scope`. */
  constructor(scope: Construct, props: EndpointProps) {
    const { code, timeout, table, results, signingKey, machinePrefix, storage, events } = props;
    this.#props = props;
    this.toolMachines = Lazy.string({ produce: () => joined([...this.#machines.values()]) });
    this.function = serverFunction(
      scope,
      'Endpoint',
      {
        description: 'MCP endpoint',
        code,
        memorySize: 512,
        timeout,
        tracing: Tracing.ACTIVE,
        roleId: 'EndpointRole',
        environment: {
          TASKS_TABLE: table.tableName,
          RESULTS_BUCKET: results.bucketName,
          SIGNING_KEY_SECRET: signingKey.secretArn,
          MACHINE_ARN_PREFIX: machineArn(scope, machinePrefix),
          TOOL_FUNCTIONS: Lazy.string({ produce: () => joined(this.#functions) }),
          TOOL_MACHINES: this.toolMachines,
          ...events?.environment,
        },
      },
      storage,
    );
    this.#allowAll(scope);
  }

  /** Gives the index of the function in TOOL_FUNCTIONS. Throws, with the tool's name, when there is no room for it. */
  addFunction(tool: string, handler: IFunction): number {
    const added = invocable(handler, this.function);
    const known = this.#functions.findIndex(({ text }) => text === added.text);
    if (known !== -1) return known;
    if (this.#functions.length === MAX_DIRECT_FUNCTIONS) {
      throw new Error(`Tool '${tool}': forbidden tools share at most ${MAX_DIRECT_FUNCTIONS} functions`);
    }
    checkEnvironment(tool, [...this.#functions, added], [...this.#machines.values()], this.#props);
    allow(this.function, ['lambda:InvokeFunction'], handler.functionArn);
    return this.#functions.push(added) - 1;
  }

  /**
   * Gives the index of the state machine in TOOL_MACHINES, and whether no tool before had it. Throws, with the tool's
   * name, when there is no room for it.
   */
  addStateMachine(tool: string, arn: string, { machineName, executionsArn }: MachineRun) {
    const known = [...this.#machines.keys()].indexOf(arn);
    if (known !== -1) return { index: known, isNew: false };
    if (this.#machines.size === MAX_STATE_MACHINES) {
      throw new Error(`Tool '${tool}': tools share at most ${MAX_STATE_MACHINES} state machines`);
    }
    const added = listedMachine(machineName);
    checkEnvironment(tool, this.#functions, [...this.#machines.values(), added], this.#props);
    this.#machines.set(arn, added);
    // This right shows which state a task is in.
    allow(this.function, ['states:GetExecutionHistory'], executionsArn);
    return { index: this.#machines.size - 1, isNew: true };
  }

  #allowAll(scope: Construct): void {
    const { table, results, signingKey, machinePrefix, storage, events } = this.#props;
    const machines = machineArn(scope, `${machinePrefix}*`);
    const executions = `${machines.replace(':stateMachine:', ':execution:')}:*`;
    const tableActions = ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Query'];
    allow(
      this.function,
      tableActions.map((action) => `dynamodb:${action}`),
      table.tableArn,
    );
    for (const prefix of ['results', 'outcomes', 'files'])
      allow(this.function, ['s3:GetObject'], results.arnForObjects(`${prefix}/*`));
    // No tool may write here: the endpoint trusts that these are the arguments of a client.
    allow(this.function, ['s3:GetObject', 's3:PutObject'], results.arnForObjects('inputs/*'));
    allow(this.function, ['secretsmanager:GetSecretValue'], signingKey.secretArn);
    allow(this.function, ['states:StartExecution'], machines);
    allow(this.function, ['states:StopExecution'], executions);
    events?.allowSender(this.function);
    // The end of a subscription.
    if (events) allowEvents(this.function, table, ['DeleteItem']);
    if (events) allowKey(this.function, scope, storage.encryptionKey, ['sqs']);
    allowKey(this.function, scope, storage.encryptionKey, ['dynamodb', 's3Read', 's3Write', 'secretRead', 'states']);
    acknowledgeWildcard(scope, results.arnForObjects('results/*'), 'The results that tools stored');
    acknowledgeWildcard(scope, results.arnForObjects('outcomes/*'), 'The results that the server stored');
    acknowledgeWildcard(scope, results.arnForObjects('files/*'), 'The files that tools stored');
    acknowledgeWildcard(scope, results.arnForObjects('inputs/*'), 'The input of all tasks');
    acknowledgeWildcard(scope, machines, 'The tool workflows of this server, by their common prefix');
    acknowledgeWildcard(scope, executions, 'The runs of the tool workflows of this server');
  }
}
