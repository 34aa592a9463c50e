import { Annotations, CfnOutput, Duration, Names } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { isRepeatable, type ToolEntry } from '../functions/mcp/manifest.ts';
import { mcpApi } from './api/rest-api.ts';
import { type Auth, neededScopes } from './auth/auth.ts';
import { Authorizer } from './auth/authorizer.ts';
import { BundledCode, bundleEndpoint, bundleReconciler } from './bundles.ts';
import { Endpoint } from './endpoint.ts';
import { ServerAlarms } from './monitoring/alarms.ts';
import { serverDashboard } from './monitoring/dashboard.ts';
import { serverMetrics } from './monitoring/metrics.ts';
import { acknowledgeServer, acknowledgeWildcard } from './nag.ts';
import { type OperatorPolicies, operatorPolicies } from './operators/operator-policies.ts';
import { type MarkedTool, markServer } from './operators/server-mark.ts';
import { Reconciler } from './reconciler.ts';
import type { McpTaskServerProps } from './server-props.ts';
import { keyRotation, publicUrlOf, type ServerSettings, serverSettings } from './server-settings.ts';
import { admitServices } from './storage/kms-grants.ts';
import type { StorageProps } from './storage/log-group.ts';
import { resultBucket } from './storage/result-bucket.ts';
import { SigningKey } from './storage/signing-key.ts';
import { taskTable } from './storage/task-table.ts';
import { TaskEvents } from './task-events.ts';
import { warnOfEngine } from './tools/engine.ts';
import { allowReports } from './tools/report-policy.ts';
import { warnOfSlowSchemas } from './tools/schema-cost.ts';
import { toolEntry } from './tools/tool-entry.ts';
import type { ToolProps } from './tools/tool-props.ts';
import { functionRun, machineRun, type ToolRun } from './tools/tool-run.ts';
import { ToolWorkflow } from './tools/tool-workflow.ts';

export type { McpTaskServerProps } from './server-props.ts';

/**
 * A backend for long-running MCP tools: one endpoint for 2025-11-25 and 2026-07-28 clients, a table of tasks, and a
 * state machine per task-capable tool (docs/architecture/README.md, "Deployed parts").
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
  /** The key that signs session ids, cursors and the like, which clients keep. To make all of them invalid, rotate it twice. */
  readonly signingKey: Secret;
  /** The endpoint function. */
  readonly endpoint: LambdaFunction;
  /** Settles tasks that a crash left behind. */
  readonly reconciler: Reconciler;
  /** Publishes the changes of tasks: metrics, audit lines, events. */
  readonly taskEvents: TaskEvents;
  /** The alarms of the server. They have no actions: add yours with `alarm.addAlarmAction(…)`. */
  readonly alarms: readonly Alarm[];
  /** Policies for the roles of people who use `mcp-task-server tasks`: see docs/operating.md. */
  readonly operatorPolicies: OperatorPolicies;
  /** The workflows by tool name. */
  readonly workflows: ReadonlyMap<string, ToolWorkflow>;
  readonly #auth: Auth;
  readonly #settings: ServerSettings;
  readonly #storage: StorageProps;
  readonly #endpoint: Endpoint;
  readonly #workflows = new Map<string, ToolWorkflow>();
  readonly #tools: ToolEntry[] = [];
  /** The tools with the constructs that operators read. */
  readonly #marked: MarkedTool[] = [];
  /** Paths of the functions that may report progress. */
  readonly #reporters = new Set<string>();
  readonly #machinePrefix: string;

  constructor(scope: Construct, id: string, props: McpTaskServerProps) {
    super(scope, id);
    const { auth, logRetention, encryptionKey } = props;
    this.#auth = auth;
    this.#settings = serverSettings(props);
    this.workflows = this.#workflows;
    this.#machinePrefix = `${Names.uniqueResourceName(this, { maxLength: 32, separator: '-' })}-`;
    const machinePrefix = this.#machinePrefix;
    const storage: StorageProps = { ...(logRetention && { logRetention }), ...(encryptionKey && { encryptionKey }) };
    this.#storage = storage;
    if (encryptionKey !== undefined) admitServices(this, encryptionKey);
    this.table = taskTable(this, props);
    this.results = resultBucket(this, this.#settings.maxTtl, props);
    const rotateAfter = keyRotation(props, this.#settings.maxTtl);
    this.signingKey = new SigningKey(this, 'SigningKey', { rotateAfter, storage }).secret;
    const { table, results, signingKey } = this;
    const { inlineWindow, holdCap } = this.#settings;
    const timeout = Duration.millis(Math.max(inlineWindow, holdCap, 50_000)).plus(Duration.seconds(10));
    const code = new BundledCode((use) => bundleEndpoint({ ...this.#settings, tools: this.#tools }, use));
    this.#endpoint = new Endpoint(this, { code, timeout, table, results, signingKey, machinePrefix, storage });
    this.endpoint = this.#endpoint.function;
    acknowledgeServer(this, props);
    const publicUrl = publicUrlOf(props);
    this.api = mcpApi(this, {
      handler: this.endpoint,
      timeout,
      auth,
      tools: () => this.#tools,
      operation: props,
      ...(publicUrl !== undefined && { publicUrl }),
    });
    if (auth.kind === 'anonymous') {
      const warning =
        'anonymous(): every client that reaches the endpoint may call every tool, and read, answer and cancel any task whose id they know';
      Annotations.of(this).addWarningV2('mcp-task-server:anonymous', warning);
    }
    this.reconciler = new Reconciler(this, 'Reconciler', {
      table,
      results,
      machinePrefix,
      toolMachines: this.#endpoint.toolMachines,
      code: new BundledCode((use) => bundleReconciler(this.#tools, use)),
      storage,
    });
    const serverName = machinePrefix.replace(/-$/, '');
    this.taskEvents = new TaskEvents(this, 'TaskEvents', {
      table,
      results,
      serverName,
      storage,
      eventBus: props.eventBus,
    });
    const authorizer = this.node.tryFindChild('Authorizer');
    const metrics = serverMetrics({
      serverName,
      api: this.api,
      endpoint: this.endpoint,
      authorizer: authorizer instanceof Authorizer ? authorizer.function : undefined,
      deadLetters: [this.reconciler.deadLetters, this.taskEvents.deadLetters],
    });
    const { alarms } = new ServerAlarms(this, 'Alarms', props.alarms ?? {}, metrics);
    this.alarms = [...this.reconciler.alarms, ...this.taskEvents.alarms, ...alarms];
    if (props.dashboard === true) serverDashboard(this, metrics);
    markServer(this.endpoint, {
      table,
      results,
      deadLetters: { reconciler: this.reconciler.deadLetters, events: this.taskEvents.deadLetters },
      logs: {
        endpoint: this.node.findChild('Logs'),
        reconciler: this.reconciler.node.findChild('Logs'),
        events: this.taskEvents.node.findChild('Logs'),
      },
      tools: () => this.#marked,
    });
    this.operatorPolicies = operatorPolicies(this, {
      table,
      results,
      machinePrefix,
      encryptionKey,
      deadLetters: [this.reconciler.deadLetters, this.taskEvents.deadLetters],
      logs: [this, this.reconciler, this.taskEvents].map(({ node }) => node.findChild('Logs') as LogGroup),
    });
    const url = publicUrl === undefined ? this.api.urlForPath('/mcp') : `${publicUrl}/mcp`;
    new CfnOutput(this, 'Url', { description: 'The MCP endpoint', value: url });
  }

  /**
   * Registers a tool. Throws an error with the tool's name if a client could not use it as described.
   *
   * @param name 1 to 64 characters of A-Z a-z 0-9 _ - . and unique in this server
   */
  addTool(name: string, props: ToolProps): this {
    const { scopes = [], ...described } = toolEntry(name, props, this.#tools, this.#settings.maxTtl);
    const needed = neededScopes(name, scopes, this.#auth);
    const entry = { ...described, ...(needed && { scopes: needed }) };
    warnOfSlowSchemas(this, entry);
    if (props.stateMachine !== undefined) this.#addStateMachine(entry, props.stateMachine);
    else if (entry.machine === undefined) {
      this.#tools.push({ ...entry, function: this.#endpoint.addFunction(name, props.handler) });
      this.#marked.push({ entry, handler: props.handler });
    } else this.#addFunction(entry, props.handler);
    return this;
  }

  #addFunction(entry: ToolEntry, handler: IFunction): void {
    warnOfEngine(this, entry, handler);
    const run = functionRun(handler, isRepeatable(entry), entry.engine);
    if (run.versionsArn !== undefined) acknowledgeWildcard(this, run.versionsArn, 'All versions of one function');
    this.#addWorkflow({ entry, handler }, run);
    if (this.#reporters.has(handler.node.path)) return;
    this.#reporters.add(handler.node.path);
    const { encryptionKey } = this.#storage;
    const policyId = `Progress${this.#reporters.size}`;
    allowReports(this, policyId, handler, { table: this.table, results: this.results, encryptionKey });
  }

  #addStateMachine(entry: ToolEntry, stateMachine: IStateMachine): void {
    const run = machineRun(this, entry.name, stateMachine);
    const { index, isNew } = this.#endpoint.addStateMachine(entry.name, stateMachine.stateMachineArn, run);
    if (isNew) {
      this.reconciler.allowReads(run.executionsArn);
      acknowledgeWildcard(this, run.executionsArn, 'All executions of one state machine');
    }
    this.#addWorkflow({ entry: { ...entry, stateMachine: index }, stateMachine }, run);
  }

  #addWorkflow(tool: MarkedTool, run: ToolRun): void {
    const { table, results } = this;
    const { entry } = tool;
    const machineName = `${this.#machinePrefix}${entry.machine}`;
    const timeout = entry.timeout / 1_000;
    const outcomes = this.taskEvents.function;
    const props = { machineName, run, table, results, outcomes, timeout, storage: this.#storage };
    const workflow = new ToolWorkflow(this, `Tool-${entry.name}`, props);
    this.#workflows.set(entry.name, workflow);
    this.#tools.push(entry);
    this.#marked.push({ ...tool, workflow: workflow.stateMachine });
  }
}
