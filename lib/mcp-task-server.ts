import { Annotations, CfnOutput, Duration, Names, Token } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { Engine } from '../functions/tasks/engines.ts';
import { mcpApi, SIGNALS, STAGE_URL } from './api/rest-api.ts';
import type { Auth } from './auth/auth.ts';
import { BundledCode, bundleEndpoint, bundleReconciler, bundleSignals } from './bundles.ts';
import { Endpoint } from './endpoint.ts';
import { type Events, eventsOf } from './events/events.ts';
import { ServerAlarms } from './monitoring/alarms.ts';
import { awsMetrics } from './monitoring/aws-metrics.ts';
import { serverDashboard } from './monitoring/dashboard.ts';
import { ServerMetrics } from './monitoring/server-metrics.ts';
import { type OnTaskStatusChangeOptions, statusRule } from './monitoring/status-rule.ts';
import { acknowledgeServer } from './nag.ts';
import { type OperatorPolicies, operatorPolicies } from './operators/operator-policies.ts';
import { markServer } from './operators/server-mark.ts';
import { Reconciler } from './reconciler.ts';
import type { McpTaskServerProps } from './server-props.ts';
import { keyRotation, publicUrlOf, serverSettings, sweepChecksPerSecond, workflowLogLevel } from './server-settings.ts';
import { Signals } from './signals.ts';
import { admitServices } from './storage/kms-grants.ts';
import type { StorageProps } from './storage/log-group.ts';
import { resultBucket } from './storage/result-bucket.ts';
import { SigningKey } from './storage/signing-key.ts';
import { taskTable } from './storage/task-table.ts';
import { TaskEvents } from './task-events.ts';
import { ToolRegistry } from './tool-registry.ts';
import { ReportPolicy } from './tools/report-policy.ts';
import type { Tool } from './tools/tool.ts';
import type { ToolFileProps } from './tools/tool-file.ts';
import type { ToolFunction } from './tools/tool-function.ts';
import type { ToolProps } from './tools/tool-props.ts';
import { ToolWorkflow } from './tools/tool-workflow.ts';

export type { McpTaskServerProps } from './server-props.ts';

/** In ms. Streams that are held longer cost much where clients leave: docs/deploying.md, "What it costs". */
const LONG_HOLD = 60_000;

/**
 * A backend for long-running MCP tools: one endpoint for 2025-11-25 and 2026-07-28 clients, a table of tasks, and the
 * workflows that run all tools (docs/architecture/README.md, "Deployed parts").
 *
 * @example
 * const server = new McpTaskServer(this, 'Server', { auth: Auth.anonymous() });
 * server.addTool('render_report', { handler, description, inputSchema, taskSupport: 'optional' });
 */
export class McpTaskServer extends ServerMetrics {
  /** The URL of the MCP endpoint: of `domain`, of `publicUrl`, or of the stage. */
  readonly url: string;
  /** The tasks, and what belongs to them. */
  readonly table: ITable;
  /** Holds the results, and the input of open tasks, that are too large for the table. */
  readonly results: IBucket;
  readonly api: RestApi;
  /** The key that signs session ids, cursors and the like, which clients keep. To make all of them invalid, rotate it twice. */
  readonly signingKey: ISecret;
  /** The endpoint function. */
  readonly endpoint: IFunction;
  /** Settles tasks that a crash left behind. */
  readonly reconciler: Reconciler;
  /** Publishes the changes of tasks: metrics, audit lines, events. */
  readonly taskEvents: TaskEvents;
  /** The queue and the function that post MCP Events. Undefined without `events`. */
  readonly events: Events | undefined;
  /** Policies for the roles of people who use `mcp-task-server tasks`: see docs/operating.md. */
  readonly operatorPolicies: OperatorPolicies;
  /** The workflows: each runs all tools of its engine. `machine` runs those that are state machines. */
  readonly workflows: Readonly<Record<Engine, ToolWorkflow>>;
  readonly #auth: Auth;
  readonly #tools: ToolRegistry;
  readonly #alarms: ServerAlarms;
  readonly #eventBus: McpTaskServerProps['eventBus'];
  protected override readonly dimensions: { readonly Server: string };

  constructor(scope: Construct, id: string, props: McpTaskServerProps) {
    super(scope, id);
    const { auth, logRetention, encryptionKey, metricsByTool = true } = props;
    this.#auth = auth;
    const settings = serverSettings(props);
    const machinePrefix = `${Names.uniqueResourceName(this, { maxLength: 32, separator: '-' })}-`;
    const storage: StorageProps = { ...(logRetention && { logRetention }), ...(encryptionKey && { encryptionKey }) };
    if (encryptionKey !== undefined) admitServices(this, encryptionKey);
    this.table = taskTable(this, props);
    this.results = resultBucket(this, settings.maxTtl, props);
    const rotateAfter = keyRotation(props);
    this.signingKey = new SigningKey(this, 'SigningKey', { rotateAfter, storage }).secret;
    const { table, results, signingKey } = this;
    const serverName = machinePrefix.replace(/-$/, '');
    const events = eventsOf(this, 'Events', props, { table, serverName, kept: settings.maxTtl, storage });
    this.events = events;
    const { inlineWindow, holdCap } = settings;
    const timeout = Duration.millis(Math.max(inlineWindow, holdCap, 50_000)).plus(Duration.seconds(10));
    const publicUrl = publicUrlOf(props);
    // A token is known at deployment only: the endpoint then goes by its requests.
    const known = publicUrl !== undefined && !Token.isUnresolved(publicUrl) && { publicUrl };
    const code = new BundledCode((use) => bundleEndpoint({ ...settings, ...known, tools: this.#tools.entries }, use));
    const parts = { table, results, signingKey, machinePrefix, storage, events };
    const endpoint = new Endpoint(this, { code, timeout, ...parts });
    this.endpoint = endpoint.function;
    acknowledgeServer(this, props);
    const signals = new Signals(this, 'Signals', {
      code: new BundledCode((use) => bundleSignals({ ...settings, tools: this.#tools.entries }, use)),
      table,
      results,
      storage,
    });
    const { api, url, openFiles } = mcpApi(this, {
      serverName,
      handler: this.endpoint,
      signals: signals.function,
      timeout,
      auth,
      tools: () => this.#tools.entries,
      operation: props,
      ...(publicUrl !== undefined && { publicUrl }),
    });
    this.api = api;
    if (auth.kind === 'anonymous') {
      const warning =
        'Auth.anonymous(): every client that reaches the endpoint may call every tool, and read, answer and cancel any task whose id they know';
      Annotations.of(this).addWarningV2('mcp-task-server:anonymous', warning);
    }
    if (holdCap > LONG_HOLD) {
      const warning = `holdCap: a stream is billed for ${holdCap / 1_000} s, also one that its client has left`;
      Annotations.of(this).addWarningV2('mcp-task-server:holdCap', warning);
    }
    this.reconciler = new Reconciler(this, 'Reconciler', {
      table,
      results,
      machinePrefix,
      toolMachines: endpoint.toolMachines,
      checksPerSecond: sweepChecksPerSecond(props),
      code: new BundledCode((use) => bundleReconciler(this.#tools.entries, use)),
      storage,
    });
    const reports = new ReportPolicy(this, { table, results, encryptionKey });
    this.dimensions = { Server: serverName };
    this.#eventBus = props.eventBus;
    this.taskEvents = new TaskEvents(this, 'TaskEvents', {
      table,
      results,
      serverName,
      storage,
      eventBus: props.eventBus,
      metricsByTool,
      linksUrl: props.linkEvents === true ? `${url}/${SIGNALS}` : undefined,
      reconciler: this.reconciler.function,
      events,
      summarized: () => this.#tools.summarized,
    });
    const workflow = (id: string, engine: Engine) =>
      new ToolWorkflow(this, id, {
        engine,
        machinePrefix,
        table,
        results,
        outcomes: this.taskEvents.function,
        signalsUrl: `${url}/${SIGNALS}`,
        maxTtl: settings.maxTtl,
        logLevel: workflowLogLevel(props),
        storage,
      });
    this.workflows = {
      standard: workflow('Standard', 'standard'),
      express: workflow('Express', 'express'),
      machine: workflow('Machine', 'machine'),
    };
    const aws = awsMetrics({
      api: this.api,
      endpoint: this.endpoint,
      deadLetters: [this.reconciler.deadLetters, this.taskEvents.deadLetters],
    });
    const hasAuthorizer = auth.kind === 'oauth';
    this.#alarms = new ServerAlarms(this, props.alarms ?? {}, aws, hasAuthorizer);
    if (props.dashboard === true) serverDashboard(this, aws, hasAuthorizer);
    this.#tools = new ToolRegistry(this, {
      published: { server: serverName, hasMetrics: metricsByTool },
      auth,
      maxTtl: settings.maxTtl,
      endpoint,
      openFiles,
      reports,
      reconciler: this.reconciler,
      workflows: this.workflows,
      alarms: this.#alarms,
    });
    markServer(this.endpoint, {
      table,
      results,
      api,
      url: publicUrl === undefined ? STAGE_URL : Token.isUnresolved(publicUrl) ? undefined : publicUrl,
      workflow: this.workflows.standard.stateMachine,
      deadLetters: { reconciler: this.reconciler.deadLetters, events: this.taskEvents.deadLetters },
      logs: {
        endpoint: this.node.findChild('Logs'),
        reconciler: this.reconciler.node.findChild('Logs'),
        events: this.taskEvents.node.findChild('Logs'),
        signals: signals.node.findChild('Logs'),
        ...(this.events && { deliveries: this.events.node.findChild('Logs') }),
      },
      tools: () => this.#tools.marked,
    });
    this.operatorPolicies = operatorPolicies(this, {
      table,
      results,
      machinePrefix,
      encryptionKey,
      events: events !== undefined,
      deadLetters: [this.reconciler.deadLetters, this.taskEvents.deadLetters],
      logs: [this, this.reconciler, this.taskEvents, signals, ...(this.events ? [this.events] : [])].map(
        ({ node }) => node.findChild('Logs') as LogGroup,
      ),
    });
    this.url = publicUrl === undefined ? this.api.urlForPath('/mcp') : `${publicUrl}/mcp`;
    new CfnOutput(this, 'Url', { description: 'The MCP endpoint', value: this.url });
  }

  /**
   * The alarms of the server. They have no actions: add yours with `alarm.addAlarmAction(…)`, after your tools, as
   * `throttledTools` adds alarms with them.
   */
  get alarms(): readonly Alarm[] {
    return [
      ...this.reconciler.alarms,
      ...this.taskEvents.alarms,
      ...(this.events?.alarms ?? []),
      ...this.#alarms.alarms,
    ];
  }

  /**
   * Lets a principal call this server: `execute-api:Invoke` for `/mcp`. Needs `Auth.iam()`, and throws without it. For a
   * principal of another account, the API needs a resource policy, too.
   *
   * @example
   * server.grantInvoke(role);
   */
  grantInvoke(grantee: IGrantable): Grant {
    if (this.#auth.kind !== 'iam') throw new Error('McpTaskServer: grantInvoke needs auth: Auth.iam()');
    const { stageName } = this.api.deploymentStage;
    const resourceArns = [this.api.arnForExecuteApi('*', '/mcp', stageName)];
    return Grant.addToPrincipal({ grantee, actions: ['execute-api:Invoke'], resourceArns });
  }

  /**
   * Makes a rule on EventBridge for the changes of tasks (docs/events.md, "Task Status Change"), on the bus of the server.
   * Throws for a status that no task has; synth refuses a tool that the server does not have.
   *
   * @example
   * server.onTaskStatusChange('Failed', { target: new LambdaFunction(notify), tool: 'render_report', status: 'failed' });
   */
  onTaskStatusChange(id: string, options: OnTaskStatusChangeOptions = {}): Rule {
    const { Server: server } = this.dimensions;
    const tools = () => this.#tools.entries.map(({ name }) => name);
    return statusRule(this, id, { ...options, server, eventBus: this.#eventBus, tools });
  }

  /**
   * Registers a tool. Throws an error with the tool's name if a client could not use it as described, or if there is no room
   * for it (docs/limits.md).
   *
   * @param name 1 to 64 characters of A-Z a-z 0-9 _ - . and unique in this server
   * @returns the tool: grant rights to it, and watch its metrics
   * @example
   * server.addTool('render_report', { handler, description, inputSchema, taskSupport: 'optional' });
   */
  addTool(name: string, props: ToolProps): Tool {
    return this.#tools.add(name, props);
  }

  /**
   * Registers a tool by the file of its handler, which `defineTool` made: makes its ToolFunction, and reads the definition. Throws
   * `ToolFileError` if there is no such handler, and the errors of `addTool`.
   *
   * @param file a path from the folder in which the app runs
   * @example
   * server.addToolFile('split_bill', 'functions/split-bill.ts', { timeout: Duration.seconds(30) });
   */
  addToolFile(name: string, file: string, props: ToolFileProps = {}): Tool & { readonly function: ToolFunction } {
    return this.#tools.addFile(name, file, props);
  }
}
