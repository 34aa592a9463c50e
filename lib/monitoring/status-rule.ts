import { type IEventBus, type OnEventOptions, Rule } from 'aws-cdk-lib/aws-events';
import type { Construct } from 'constructs';
import { DETAIL_TYPE, SOURCE } from '../../functions/task-events/status-change.ts';
import { STATUSES, type Status } from '../../functions/tasks/record.ts';
import type { McpTaskServerProps } from '../server-props.ts';

/** The changes that a rule lets through, and what gets them. */
export interface OnTaskStatusChangeOptions extends OnEventOptions {
  /** The tools whose tasks count. @default all @example 'render_report' */
  readonly tool?: string | readonly string[];
  /** The statuses that a task changes to. @default all @example ['completed', 'failed', 'cancelled'] */
  readonly status?: Status | readonly Status[];
}

export interface StatusRuleProps extends OnTaskStatusChangeOptions {
  /** The name of the server. */
  readonly server: string;
  readonly eventBus: McpTaskServerProps['eventBus'];
  /** The names of all tools, once all are registered. */
  readonly tools: () => readonly string[];
}

/** Makes a rule on the changes of tasks of one server. Synth refuses a tool that the server does not have. */
export function statusRule(scope: Construct, id: string, props: StatusRuleProps): Rule {
  const { server, eventBus, tools, tool, status, target, crossStackScope = scope, ...options } = props;
  const [onlyTools, onlyStatuses] = [tool, status].map((only) => (only === undefined ? undefined : [only].flat()));
  const wrong = onlyStatuses?.find((one) => !STATUSES.some((known) => known === one));
  if (wrong !== undefined)
    throw new Error(`onTaskStatusChange '${id}': '${wrong}' is no status: ${STATUSES.join(', ')}`);
  const rule = new Rule(crossStackScope, id, { ...options, ...(eventBus && { eventBus: eventBus as IEventBus }) });
  rule.addEventPattern({
    source: [SOURCE],
    detailType: [DETAIL_TYPE],
    detail: {
      server: [server],
      ...(onlyTools && { tool: onlyTools }),
      ...(onlyStatuses && { status: onlyStatuses }),
    },
  });
  if (target !== undefined) rule.addTarget(target);
  rule.node.addValidation({
    validate: () => {
      const missing = (onlyTools ?? []).filter((one) => !tools().includes(one));
      return missing.map((one) => `onTaskStatusChange '${id}': the server has no tool '${one}'`);
    },
  });
  return rule;
}
