import { type CfnElement, type CfnResource, Lazy, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import { isRepeatable, type ToolEntry } from '../../functions/mcp/manifest.ts';
import { SERVER_MARK, type ServerMark } from '../../functions/operator/server-mark.ts';

/** One tool, and the constructs that an operator reads. */
export interface MarkedTool {
  readonly entry: ToolEntry;
  readonly stateMachine?: IConstruct;
  readonly handler?: IFunction;
}

export interface MarkedServer {
  readonly table: IConstruct;
  readonly results: IConstruct;
  readonly api: IConstruct;
  /** As in the mark. Undefined: only the deployment knows it. */
  readonly url: string | undefined;
  /** The Standard workflow. */
  readonly workflow: IConstruct;
  readonly deadLetters: Readonly<Record<string, IConstruct>>;
  readonly logs: Readonly<Record<string, IConstruct>>;
  readonly tools: () => readonly MarkedTool[];
}

/**
 * Writes the facts that the operator's verbs need into the template, as metadata of the endpoint: names of resources in
 * the same stack, and facts about tools. CloudFormation does nothing with metadata.
 */
export function markServer(endpoint: IFunction, { tools, logs, deadLetters, ...parts }: MarkedServer): void {
  const stack = Stack.of(endpoint);
  const idOf = (construct: IConstruct | undefined): string | undefined => {
    const element = construct && ((construct.node.defaultChild ?? construct) as CfnElement);
    // A resource of another stack is not in the list that the verbs read.
    if (element?.logicalId === undefined || Stack.of(element) !== stack) return undefined;
    return String(stack.resolve(element.logicalId));
  };
  const idsOf = (all: Readonly<Record<string, IConstruct>>) =>
    Object.fromEntries(Object.entries(all).map(([name, construct]) => [name, idOf(construct) ?? '']));
  const produce = (): ServerMark => ({
    table: idOf(parts.table) ?? '',
    results: idOf(parts.results) ?? '',
    ...(parts.url !== undefined && { api: idOf(parts.api) ?? '', url: parts.url }),
    workflow: idOf(parts.workflow) ?? '',
    deadLetters: idsOf(deadLetters),
    logs: idsOf(logs),
    tools: Object.fromEntries(tools().map((tool) => [tool.entry.name, toolMark(tool, idOf)])),
  });
  (endpoint.node.defaultChild as CfnResource).addMetadata(SERVER_MARK, Lazy.any({ produce }));
}

function toolMark({ entry, stateMachine, handler }: MarkedTool, idOf: (c?: IConstruct) => string | undefined) {
  const { engine, timeout, ttl, outputSchema, outputSchemaId, scopes } = entry;
  const [machineId, handlerId] = [idOf(stateMachine), idOf(handler)];
  const logs = idOf(logGroupOf(handler));
  return {
    ...(engine !== undefined && { engine }),
    ...(machineId !== undefined && { stateMachine: machineId }),
    ...(handlerId !== undefined && { handler: handlerId }),
    ...(logs !== undefined && { logs }),
    ...(isRepeatable(entry) && { repeatable: true }),
    ...(entry.keepArguments && { keepArguments: true }),
    ...(entry.askFirst !== undefined && { asksFirst: true }),
    timeout,
    ...(ttl !== undefined && { ttl }),
    ...(outputSchema && { outputSchema, outputSchemaId }),
    ...(scopes && { scopes }),
  };
}

/** The log group that a function was given. A function without one would make a group if asked for it. */
function logGroupOf(handler: IFunction | undefined): ILogGroup | undefined {
  const parts = handler?.node.scope?.node.tryFindChild(`${handler.node.id}Parts`);
  return parts?.node.tryFindChild('Logs') as ILogGroup | undefined;
}
