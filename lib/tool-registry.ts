import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { isRepeatable, type ToolEntry } from '../functions/mcp/manifest.ts';
import type { Engine } from '../functions/tasks/engines.ts';
import { type Auth, neededScopes } from './auth/auth.ts';
import type { Endpoint } from './endpoint.ts';
import type { ServerAlarms } from './monitoring/alarms.ts';
import { acknowledgeWildcard } from './nag.ts';
import type { MarkedTool } from './operators/server-mark.ts';
import type { Reconciler } from './reconciler.ts';
import { waitForPolicies } from './server-function.ts';
import { enginesOf, warnOfEngine } from './tools/engine.ts';
import { warnOfRetries } from './tools/machine-retries.ts';
import type { ReportPolicy } from './tools/report-policy.ts';
import { warnOfSlowSchemas } from './tools/schema-cost.ts';
import { type Published, Tool } from './tools/tool.ts';
import { checkName, toolEntry } from './tools/tool-entry.ts';
import { type ToolFileProps, toolOfFile } from './tools/tool-file.ts';
import type { ToolFunction } from './tools/tool-function.ts';
import type { ToolProps } from './tools/tool-props.ts';
import { functionRun, machineRun, type ToolRun } from './tools/tool-run.ts';
import type { ToolWorkflow } from './tools/tool-workflow.ts';

/** The parts of a server that change with each tool. */
export interface ToolRegistryProps {
  readonly published: Published;
  readonly auth: Auth;
  /** In ms. */
  readonly maxTtl: number;
  readonly endpoint: Endpoint;
  readonly reconciler: Reconciler;
  /** For tools with files. */
  readonly openFiles: () => void;
  readonly reports: ReportPolicy;
  readonly workflows: Readonly<Record<Engine, ToolWorkflow>>;
  readonly alarms: ServerAlarms;
}

/** The tools of a server. It holds the constructs that are made for each. */
export class ToolRegistry extends Construct {
  readonly entries: ToolEntry[] = [];
  /** The tools with the constructs that operators read. */
  readonly marked: MarkedTool[] = [];
  readonly #server: Construct;
  readonly #props: ToolRegistryProps;

  constructor(server: Construct, props: ToolRegistryProps) {
    super(server, 'Tools');
    this.#server = server;
    this.#props = props;
  }

  /** The names of tools whose events have a summary. */
  get summarized(): readonly string[] {
    return this.entries.flatMap(({ name, eventSummary }) => (eventSummary === true ? [name] : []));
  }

  add(name: string, props: ToolProps): Tool {
    const { auth, maxTtl, endpoint, alarms, published } = this.#props;
    const { scopes = [], ...described } = toolEntry(name, props, this.entries, maxTtl);
    const needed = neededScopes(name, scopes, auth);
    const entry = { ...described, ...(needed && { scopes: needed }) };
    warnOfSlowSchemas(this.#server, entry);
    if (props.stateMachine !== undefined) this.#addStateMachine(entry, props.stateMachine);
    else if (entry.engine === undefined) {
      this.entries.push({ ...entry, function: endpoint.addFunction(name, props.handler) });
      this.marked.push({ entry, handler: props.handler });
    } else this.#addFunction(entry, props.handler);
    if (props.handler !== undefined) alarms.addTool(props.handler);
    const tool = new Tool(this.#scopeOf(name), 'Tool', name, props, published);
    const { role } = tool;
    // Only a role that CDK has made, within the function or state machine. What else depends on another one is not known.
    if (role && role.node.scope === (props.handler ?? props.stateMachine)) waitForPolicies(role);
    return tool;
  }

  addFile(name: string, file: string, props: ToolFileProps): Tool & { readonly function: ToolFunction } {
    checkName(name, this.entries);
    const tool = toolOfFile(this.#scopeOf(name), name, file, props);
    return Object.assign(this.add(name, tool), { function: tool.handler });
  }

  /** The construct that holds what is made for a tool. */
  #scopeOf(name: string): Construct {
    // Every object of JavaScript has a `constructor`: as an id that name is taken.
    const id = `${name}:`;
    const known = this.node.tryFindChild(id);
    return known === undefined ? new Construct(this, id) : (known as Construct);
  }

  #addFunction(entry: ToolEntry, handler: IFunction): void {
    warnOfEngine(this.#server, entry, handler);
    const run = functionRun(handler);
    if (run.versionsArn !== undefined) {
      acknowledgeWildcard(this.#server, run.versionsArn, 'All versions of one function');
    }
    this.#addTask({ entry, handler }, run);
    this.#props.reports.allow(handler, entry.files);
    if (entry.files) this.#props.openFiles();
  }

  #addStateMachine(entry: ToolEntry, stateMachine: IStateMachine): void {
    const { endpoint, reconciler } = this.#props;
    const run = machineRun(this, entry.name, stateMachine);
    warnOfRetries(this.#server, entry, stateMachine);
    const { index, isNew } = endpoint.addStateMachine(entry.name, stateMachine.stateMachineArn, run);
    if (isNew) {
      reconciler.allowReads(run.executionsArn);
      acknowledgeWildcard(this.#server, run.executionsArn, 'All executions of one state machine');
    }
    this.#addTask({ entry: { ...entry, stateMachine: index }, stateMachine }, run);
  }

  #addTask(tool: MarkedTool, { arn, statements }: ToolRun): void {
    const { name } = tool.entry;
    for (const engine of enginesOf(tool.entry)) {
      this.#props.workflows[engine].addTool(name, arn, statements, isRepeatable(tool.entry));
    }
    this.entries.push(tool.entry);
    this.marked.push(tool);
  }
}
