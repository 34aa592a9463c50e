import { Annotations, CfnOutput, Duration, Lazy, Names } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type IFunction, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { isRepeatable, type ToolEntry } from '../functions/mcp/manifest.ts';
import { mcpApi } from './api/rest-api.ts';
import { type Auth, neededScopes } from './auth/auth.ts';
import { bundleEndpoint, bundleReconciler, McpCode } from './bundles.ts';
import { checkEnvironment, invocable, joined, type Listed, listedMachine } from './endpoint-environment.ts';
import { acknowledgeServer, acknowledgeWildcard } from './nag.ts';
import { Reconciler } from './reconciler.ts';
import {
  keyRotation,
  type McpTaskServerProps,
  publicUrlOf,
  type ServerSettings,
  serverSettings,
} from './server-props.ts';
import { admitServices, allowKey, keyStatements } from './storage/kms-grants.ts';
import { type Keeping, logs } from './storage/log-group.ts';
import { resultBucket } from './storage/result-bucket.ts';
import { SigningKey } from './storage/signing-key.ts';
import { taskTable } from './storage/task-table.ts';
import { slowParts } from './tools/schema-cost.ts';
import { shareWorker } from './tools/shared-worker.ts';
import { toolEntry } from './tools/tool-entry.ts';
import type { ToolProps } from './tools/tool-props.ts';
import { functionRun, machineRun, type ToolRun } from './tools/tool-run.ts';
import { machineArn, ToolWorkflow } from './tools/tool-workflow.ts';

export type { McpTaskServerProps } from './server-props.ts';

/** TOOL_FUNCTIONS and TOOL_MACHINES list them all: `checkEnvironment` says whether there is room. */
const MAX_DIRECT_FUNCTIONS = 25;
const MAX_STATE_MACHINES = 20;
/** What a tool's own credentials may read of a task: whether it goes on, and what an earlier attempt has kept. */
const TOOL_READS = ['owner', 'taskId', 'status', 'round', 'memory', 'memoryRound'];
/** And write, in the partitions of `functions/tasks/table/progress-item.ts` only. Nothing that puts an item into an index. */
const TOOL_WRITES = [
  ...['owner', 'taskId', 'round', 'updatedAt', 'statusMessage', 'progress', 'progressTotal'],
  ...['memoryRound', 'memory', 'expiresAt'],
];
const TOOL_PARTITIONS = 'progress#*';

/**
 * A backend for long-running MCP tools: one endpoint for 2025-11-25 and 2026-07-28 clients, a table of tasks, and a
 * state machine per task-capable tool (docs/architecture.md, "Deployed parts").
 *
 * @example
 * const server = new McpTaskServer(this, 'Server', { auth: anonymous() });
 * server.addTool('render_report', { handler, description, inputSchema, taskSupport: 'optional' });
 */
export class McpTaskServer extends Construct {
  readonly table: TableV2;
  /** Holds the results, and the input of open tasks, that are too large for the table. */
  readonly results: Bucket;
  readonly api: RestApi;
  /** Signs what clients keep and bring back. To take all of that back, rotate it twice. */
  readonly signingKey: Secret;
  /** The endpoint function. */
  readonly endpoint: LambdaFunction;
  /** Settles tasks that a crash left behind. */
  readonly reconciler: Reconciler;
  /** They notify nobody until they are told to: `alarm.addAlarmAction(…)`. */
  readonly alarms: readonly Alarm[];
  /** By tool name. */
  readonly workflows: ReadonlyMap<string, ToolWorkflow>;
  readonly #auth: Auth;
  readonly #settings: ServerSettings;
  readonly #keeping: Keeping;
  readonly #workflows = new Map<string, ToolWorkflow>();
  readonly #tools: ToolEntry[] = [];
  readonly #functions: Listed[] = [];
  /** By ARN. */
  readonly #stateMachines = new Map<string, Listed>();
  readonly #reporters = new Set<string>();
  readonly #machinePrefix: string;

  constructor(scope: Construct, id: string, props: McpTaskServerProps) {
    super(scope, id);
    this.#auth = props.auth;
    this.#settings = serverSettings(props);
    this.workflows = this.#workflows;
    this.#machinePrefix = `${Names.uniqueResourceName(this, { maxLength: 32, separator: '-' })}-`;
    const { logRetention, encryptionKey } = props;
    this.#keeping = { ...(logRetention && { logRetention }), ...(encryptionKey && { encryptionKey }) };
    if (encryptionKey !== undefined) admitServices(this, encryptionKey);
    this.table = taskTable(this, props);
    this.results = resultBucket(this, this.#settings.maxTtl, props);
    const rotateAfter = keyRotation(props, this.#settings.maxTtl);
    this.signingKey = new SigningKey(this, 'SigningKey', { rotateAfter, keeping: this.#keeping }).secret;
    const logGroup = logs(this, this.#keeping);
    const { inlineWindow, holdCap } = this.#settings;
    const timeout = Duration.millis(Math.max(inlineWindow, holdCap, 50_000)).plus(Duration.seconds(10));
    const toolMachines = Lazy.string({ produce: () => joined([...this.#stateMachines.values()]) });
    this.endpoint = new LambdaFunction(this, 'Endpoint', {
      description: 'MCP endpoint for 2025-11-25 and 2026-07-28',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout,
      tracing: Tracing.ACTIVE,
      handler: 'index.handler',
      code: new McpCode((use) => bundleEndpoint({ ...this.#settings, tools: this.#tools }, use)),
      logGroup,
      role: new Role(this, 'EndpointRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
      environment: {
        TASKS_TABLE: this.table.tableName,
        RESULTS_BUCKET: this.results.bucketName,
        SIGNING_KEY_SECRET: this.signingKey.secretArn,
        MACHINE_ARN_PREFIX: machineArn(this, this.#machinePrefix),
        TOOL_FUNCTIONS: Lazy.string({ produce: () => joined(this.#functions) }),
        TOOL_MACHINES: toolMachines,
      },
    });
    shareWorker(this.endpoint);
    const machines = machineArn(this, `${this.#machinePrefix}*`);
    const table = this.table.tableArn;
    this.#allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn);
    this.#allow(
      ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Query'].map((action) => `dynamodb:${action}`),
      table,
    );
    this.#allow(['s3:GetObject'], this.results.arnForObjects('results/*'));
    // Not for tools: what they write is not believed to be what a client sent.
    this.#allow(['s3:GetObject', 's3:PutObject'], this.results.arnForObjects('inputs/*'));
    this.#allow(['secretsmanager:GetSecretValue'], this.signingKey.secretArn);
    this.#allow(['states:StartExecution'], machines);
    const executions = `${machines.replace(':stateMachine:', ':execution:')}:*`;
    this.#allow(['states:StopExecution'], executions);
    allowKey(this.endpoint, this, encryptionKey, ['dynamodb', 's3Read', 's3Write', 'secretRead', 'states']);
    acknowledgeServer(this, props);
    acknowledgeWildcard(this, this.results.arnForObjects('results/*'), 'The results of all tasks');
    acknowledgeWildcard(this, this.results.arnForObjects('inputs/*'), 'The input of all tasks');
    acknowledgeWildcard(this, machines, 'The tool workflows of this server, by their common prefix');
    acknowledgeWildcard(this, executions, 'The runs of the tool workflows of this server');
    const { auth } = props;
    const publicUrl = publicUrlOf(props);
    this.api = mcpApi(this, {
      ...{ handler: this.endpoint, timeout, auth, tools: () => this.#tools, operation: props },
      ...(publicUrl !== undefined && { publicUrl }),
    });
    if (auth.kind === 'anonymous') {
      Annotations.of(this).addWarningV2(
        'mcp-task-server:anonymous',
        'anonymous(): whoever reaches the endpoint may call every tool, and read, answer and cancel any task whose id they know',
      );
    }
    this.reconciler = new Reconciler(this, 'Reconciler', {
      table: this.table,
      results: this.results,
      machinePrefix: this.#machinePrefix,
      toolMachines,
      code: new McpCode((use) => bundleReconciler(this.#tools, use)),
      keeping: this.#keeping,
    });
    this.alarms = this.reconciler.alarms;
    const url = publicUrl === undefined ? this.api.urlForPath('/mcp') : `${publicUrl}/mcp`;
    new CfnOutput(this, 'Url', { description: 'The MCP endpoint', value: url });
  }

  /**
   * Registers a tool. Throws, with the tool's name, when a client could not use it as described.
   *
   * @param name 1 to 64 characters of A-Z a-z 0-9 _ - . and unique in this server
   */
  addTool(name: string, props: ToolProps): this {
    const { scopes = [], ...described } = toolEntry(name, props, this.#tools, this.#settings.maxTtl);
    const needed = neededScopes(name, scopes, this.#auth);
    const entry = { ...described, ...(needed && { scopes: needed }) };
    this.#warnOfSlowSchemas(entry);
    if (props.stateMachine !== undefined) this.#addStateMachine(entry, props.stateMachine);
    else if (entry.machine === undefined) this.#addDirect(entry, props.handler);
    else this.#addFunction(entry, props.handler);
    return this;
  }

  #warnOfSlowSchemas({ name, inputSchema, outputSchema }: ToolEntry): void {
    const output = outputSchema === undefined ? [] : slowParts('outputSchema', outputSchema);
    for (const problem of [...slowParts('inputSchema', inputSchema), ...output]) {
      Annotations.of(this).addWarningV2('mcp-task-server:slow-schema', `Tool '${name}': ${problem}`);
    }
  }

  #addDirect(entry: ToolEntry, handler: IFunction): void {
    const added = invocable(handler, this.endpoint);
    const known = this.#functions.findIndex(({ text }) => text === added.text);
    if (known === -1) {
      if (this.#functions.length === MAX_DIRECT_FUNCTIONS) {
        throw new Error(`Tool '${entry.name}': forbidden tools share at most ${MAX_DIRECT_FUNCTIONS} functions`);
      }
      this.#checkEnvironment(entry.name, [...this.#functions, added], [...this.#stateMachines.values()]);
      this.#functions.push(added);
      this.#allow(['lambda:InvokeFunction'], handler.functionArn);
    }
    this.#tools.push({ ...entry, function: known === -1 ? this.#functions.length - 1 : known });
  }

  #addFunction(entry: ToolEntry, handler: IFunction): void {
    const run = functionRun(handler, isRepeatable(entry));
    if (run.versionsArn !== undefined) acknowledgeWildcard(this, run.versionsArn, 'All versions of one function');
    this.#addWorkflow(entry, run);
    this.#allowProgress(handler);
  }

  #addStateMachine(entry: ToolEntry, stateMachine: IStateMachine): void {
    const run = machineRun(this, entry.name, stateMachine);
    const { stateMachineArn: arn } = stateMachine;
    if (!this.#stateMachines.has(arn)) {
      if (this.#stateMachines.size === MAX_STATE_MACHINES) {
        throw new Error(`Tool '${entry.name}': tools share at most ${MAX_STATE_MACHINES} state machines`);
      }
      const added = listedMachine(run.machineName);
      this.#checkEnvironment(entry.name, this.#functions, [...this.#stateMachines.values(), added]);
      this.#stateMachines.set(arn, added);
      // To show which state a task is in.
      this.#allow(['states:GetExecutionHistory'], run.executionsArn);
      this.reconciler.lookAt(run.executionsArn);
      acknowledgeWildcard(this, run.executionsArn, 'All executions of one state machine');
    }
    this.#addWorkflow({ ...entry, stateMachine: [...this.#stateMachines.keys()].indexOf(arn) }, run);
  }

  #addWorkflow(entry: ToolEntry, run: ToolRun): void {
    const workflow = new ToolWorkflow(this, `Tool-${entry.name}`, {
      machineName: `${this.#machinePrefix}${entry.machine}`,
      run,
      table: this.table,
      results: this.results,
      timeout: entry.timeout / 1_000,
      keeping: this.#keeping,
    });
    this.#workflows.set(entry.name, workflow);
    this.#tools.push(entry);
  }

  /** In a policy of this stack, so that the function may live in another one. */
  #allowProgress({ node, role }: IFunction): void {
    if (this.#reporters.has(node.path)) return;
    this.#reporters.add(node.path);
    if (role === undefined) {
      Annotations.of(this).addWarningV2(
        'mcp-task-server:no-role',
        `${node.path} has no known role: let it dynamodb:GetItem and dynamodb:UpdateItem the tasks table if it reports progress, s3:PutObject large results`,
      );
      return;
    }
    new Policy(this, `Progress${this.#reporters.size}`, {
      roles: [role],
      statements: [
        new PolicyStatement({
          actions: ['dynamodb:UpdateItem'],
          resources: [this.table.tableArn],
          conditions: {
            'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [TOOL_PARTITIONS] },
            // ForAllValues holds for a request without the key.
            Null: { 'dynamodb:LeadingKeys': 'false' },
            'ForAllValues:StringEquals': { 'dynamodb:Attributes': TOOL_WRITES },
            StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
          },
        }),
        new PolicyStatement({
          actions: ['dynamodb:GetItem'],
          resources: [this.table.tableArn],
          conditions: {
            'ForAllValues:StringEquals': { 'dynamodb:Attributes': TOOL_READS },
            // As in IAM's own example for GetItem: the key is documented for Query and Scan only (docs/verify-on-aws.md).
            StringEqualsIfExists: { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' },
          },
        }),
        new PolicyStatement({ actions: ['s3:PutObject'], resources: [this.results.arnForObjects('results/*')] }),
        ...keyStatements(this, this.#keeping.encryptionKey, ['dynamodb', 's3Write']),
      ],
    });
  }

  #checkEnvironment(tool: string, functions: readonly Listed[], machines: readonly Listed[]): void {
    const { table, results, signingKey } = this;
    checkEnvironment(tool, functions, machines, { table, results, signingKey, machinePrefix: this.#machinePrefix });
  }

  #allow(actions: string[], resource: string): void {
    this.endpoint.addToRolePolicy(new PolicyStatement({ actions, resources: [resource] }));
  }
}
