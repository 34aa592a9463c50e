import type { IGrantable, IPrincipal, IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IStateMachine, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { TaskMetrics } from '../monitoring/server-metrics.ts';
import type { ToolProps } from './tool-props.ts';

/** The metrics that a server publishes of its tools. */
export interface Published {
  /** The name of the server. */
  readonly server: string;
  /** Whether each tool has metrics, too. */
  readonly hasMetrics: boolean;
}

/**
 * A tool of a server, with the metrics of its tasks. What is granted to it, its function or state machine may do.
 *
 * @example
 * const tool = server.addTool('render_report', { handler, description, inputSchema, taskSupport: 'optional' });
 * bucket.grantRead(tool);
 * new Alarm(this, 'Failures', { metric: tool.metricFailed(), threshold: 5, evaluationPeriods: 1 });
 */
export class Tool extends TaskMetrics implements IGrantable {
  readonly toolName: string;
  /** The function that is the tool; undefined for a state machine. */
  readonly function: IFunction | undefined;
  /** The state machine that is the tool; undefined for a function. */
  readonly stateMachine: IStateMachine | undefined;
  /** The role of the function or state machine; undefined for one of another app. */
  readonly role: IRole | undefined;
  readonly grantPrincipal: IPrincipal;
  readonly #published: Published;

  constructor(
    scope: Construct,
    id: string,
    toolName: string,
    { handler, stateMachine }: ToolProps,
    published: Published,
  ) {
    super(scope, id);
    this.#published = published;
    this.toolName = toolName;
    this.function = handler;
    this.stateMachine = stateMachine;
    const runs = handler ?? stateMachine;
    // CDK's interface of a state machine has no role.
    this.role = (runs as Partial<IFunction & StateMachine>).role;
    this.grantPrincipal = runs.grantPrincipal;
  }

  protected override get dimensions(): Readonly<Record<string, string>> {
    const { server, hasMetrics } = this.#published;
    if (hasMetrics) return { Server: server, Tool: this.toolName };
    throw new Error(`Tool '${this.toolName}' has no metrics of its own: metricsByTool is false`);
  }
}
