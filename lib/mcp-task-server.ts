import { CfnOutput, Duration, Lazy, Names, RemovalPolicy as Removal, type RemovalPolicy } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { ToolEntry } from '../functions/mcp/manifest.ts';
import type { Auth } from './auth.ts';
import { mcpApi } from './mcp-api.ts';
import { McpCode } from './mcp-code.ts';
import { taskTable } from './task-table.ts';
import type { ToolProps } from './tool.ts';
import { toolEntry } from './tool-entry.ts';
import { machineArn, ToolWorkflow } from './tool-workflow.ts';

export interface McpTaskServerProps {
  /** Who may call, and how callers are told apart. There is no default. */
  readonly auth: Auth;
  /** Name and version shown to clients. @default mcp-task-server 0.1.0 */
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  /** How to use the server, for the model. @default none */
  readonly instructions?: string;
  /** The longest ttl a client can ask for; at most 7 days. @default 24 hours */
  readonly maxTtl?: Duration;
  /**
   * Origins that browsers may call from; `*` as port matches any port. Requests without an Origin are not
   * concerned. @default loopback addresses
   */
  readonly allowedOrigins?: readonly string[];
  /** What happens to the tasks table when the stack goes. @default RETAIN */
  readonly removalPolicy?: RemovalPolicy;
}

const LOOPBACK = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*'];
const TIMEOUT = Duration.seconds(60);
/** What a tool's own credentials may touch in a record: enough to report progress, not to forge a result. */
const PROGRESS_ATTRIBUTES = [
  ...['owner', 'taskId', 'status', 'round', 'updatedAt', 'statusMessage', 'progress', 'progressTotal'],
];

/**
 * A backend for long-running MCP tools: one endpoint for 2025-11-25 and 2026-07-28 clients, a table of tasks, and a
 * state machine per task-capable tool (design section 1).
 *
 * @example
 * const server = new McpTaskServer(this, 'Server', { auth: anonymous() });
 * server.addTool('render_report', { handler, description, inputSchema, taskSupport: 'optional' });
 */
export class McpTaskServer extends Construct {
  readonly table: TableV2;
  readonly api: RestApi;
  /** The endpoint function. */
  readonly endpoint: LambdaFunction;
  readonly workflows: Readonly<Record<string, ToolWorkflow>> = {};
  readonly #tools: ToolEntry[] = [];
  readonly #functions: string[] = [];
  readonly #reporters = new Set<string>();
  readonly #machinePrefix: string;

  constructor(scope: Construct, id: string, props: McpTaskServerProps) {
    super(scope, id);
    const maxTtl = props.maxTtl ?? Duration.hours(24);
    if (maxTtl.toDays({ integral: false }) > 7) throw new Error('McpTaskServer: maxTtl is at most 7 days');
    this.#machinePrefix = `${Names.uniqueResourceName(this, { maxLength: 32, separator: '-' })}-`;
    this.table = taskTable(this, props.removalPolicy);
    const signingKey = new Secret(this, 'SigningKey', {
      description: 'Signs MCP session ids, cursors and request state',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    const logGroup = new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH, removalPolicy: Removal.DESTROY });
    const code = new McpCode(() => ({
      serverInfo: props.serverInfo ?? { name: 'mcp-task-server', version: '0.1.0' },
      ...(props.instructions !== undefined && { instructions: props.instructions }),
      maxTtl: maxTtl.toMilliseconds(),
      allowedOrigins: props.allowedOrigins ?? LOOPBACK,
      tools: this.#tools,
    }));
    this.endpoint = new LambdaFunction(this, 'Endpoint', {
      description: 'MCP endpoint for 2025-11-25 and 2026-07-28',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: TIMEOUT,
      tracing: Tracing.ACTIVE,
      handler: 'index.handler',
      code,
      logGroup,
      role: new Role(this, 'EndpointRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
      environment: {
        TASKS_TABLE: this.table.tableName,
        SIGNING_KEY_SECRET: signingKey.secretArn,
        MACHINE_ARN_PREFIX: machineArn(this, this.#machinePrefix),
        TOOL_FUNCTIONS: Lazy.string({ produce: () => this.#functions.join(',') }),
      },
    });
    this.#allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
    this.#allow(
      ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:Query'],
      [this.table.tableArn],
    );
    this.#allow(['secretsmanager:GetSecretValue'], [signingKey.secretArn]);
    this.api = mcpApi(this, this.endpoint, TIMEOUT);
    new CfnOutput(this, 'Url', { description: 'The MCP endpoint', value: this.api.urlForPath('/mcp') });
  }

  /**
   * Registers a tool. Throws, with the tool's name, when a client could not use it as described.
   *
   * @param name 1 to 64 characters of A-Z a-z 0-9 _ - . and unique in this server
   */
  addTool(name: string, props: ToolProps): this {
    const entry = toolEntry(name, props, this.#tools);
    if (entry.machine === undefined) this.#addDirect(entry, props);
    else this.#addWorkflow(entry, entry.machine, props);
    return this;
  }

  #addDirect(entry: ToolEntry, props: ToolProps): void {
    const { functionName, functionArn } = props.handler;
    if (!this.#functions.includes(functionName)) {
      this.#functions.push(functionName);
      this.#allow(['lambda:InvokeFunction'], [functionArn]);
    }
    this.#tools.push({ ...entry, function: this.#functions.indexOf(functionName) });
  }

  #addWorkflow(entry: ToolEntry, machine: string, props: ToolProps): void {
    const machineName = this.#machinePrefix + machine;
    const repeatable = entry.annotations?.readOnlyHint === true || entry.annotations?.idempotentHint === true;
    const workflow = new ToolWorkflow(this, `Tool-${entry.name}`, {
      machineName,
      handler: props.handler,
      table: this.table,
      timeout: entry.timeout / 1_000,
      repeatable,
    });
    (this.workflows as Record<string, ToolWorkflow>)[entry.name] = workflow;
    const arn = machineArn(this, machineName);
    this.#allow(['states:StartExecution'], [arn]);
    this.#allow(['states:StopExecution'], [`${arn.replace(':stateMachine:', ':execution:')}:*`]);
    this.#allowProgress(props.handler);
    this.#tools.push(entry);
  }

  #allowProgress(handler: ToolProps['handler']): void {
    if (this.#reporters.has(handler.node.path)) return;
    this.#reporters.add(handler.node.path);
    if (handler instanceof LambdaFunction) handler.addEnvironment('TASKS_TABLE', this.table.tableName);
    handler.addToRolePolicy(
      new PolicyStatement({
        actions: ['dynamodb:UpdateItem'],
        resources: [this.table.tableArn],
        conditions: {
          'ForAllValues:StringEquals': { 'dynamodb:Attributes': PROGRESS_ATTRIBUTES },
          StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
        },
      }),
    );
  }

  #allow(actions: string[], resources: string[]): void {
    this.endpoint.addToRolePolicy(new PolicyStatement({ actions, resources }));
  }
}
