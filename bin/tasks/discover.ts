import {
  type CloudFormationClient,
  DescribeStackResourceCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import type { ServerFacts, ToolFacts } from '../../functions/operator/context.ts';
import { OperatorError } from '../../functions/operator/errors.ts';
import { ENDPOINT_ID, SERVER_MARK, type ServerMark, type ToolMark } from '../../functions/operator/server-mark.ts';

interface StackResource {
  readonly type: string;
  readonly physicalId: string;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/**
 * Finds the parts of a server in a stack: CloudFormation lists the resources, and the metadata of the endpoint says what
 * each of them is. Throws OperatorError.
 *
 * @param wanted the construct id of the server, if the stack has more than one
 */
export async function discover(
  cloudFormation: CloudFormationClient,
  region: string,
  stack: string,
  wanted: string | undefined,
): Promise<ServerFacts> {
  const resources = await resourcesOf(cloudFormation, stack);
  const endpoints = [...resources].filter(
    ([logicalId, { type }]) => type === 'AWS::Lambda::Function' && ENDPOINT_ID.test(logicalId),
  );
  const servers = new Map<string, ServerMark>();
  for (const [logicalId] of endpoints) {
    const describe = new DescribeStackResourceCommand({ StackName: stack, LogicalResourceId: logicalId });
    const { Metadata = '{}' } = (await cloudFormation.send(describe)).StackResourceDetail ?? {};
    const mark = (JSON.parse(Metadata) as Record<string, unknown>)[SERVER_MARK];
    if (mark !== undefined) servers.set(logicalId.replace(ENDPOINT_ID, ''), mark as ServerMark);
  }
  const names = [...servers.keys()];
  if (names.length === 0)
    throw new OperatorError(`The stack ${stack} has no server that these commands know. Deploy it with this release`);
  const name = wanted ?? names[0] ?? '';
  const mark = servers.get(name);
  if (mark === undefined || (wanted === undefined && names.length > 1)) {
    throw new OperatorError(`The stack ${stack} has these servers: ${names.join(', ')}. Choose one by --server`);
  }
  return factsOf(`${stack}/${name}`, region, mark, resources);
}

async function resourcesOf(client: CloudFormationClient, StackName: string): Promise<Map<string, StackResource>> {
  const resources = new Map<string, StackResource>();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    for (const { LogicalResourceId = '', ResourceType: type = '', ...found } of StackResourceSummaries) {
      const { PhysicalResourceId: physicalId = '', LastUpdatedTimestamp } = found;
      resources.set(LogicalResourceId, { type, physicalId, changedAt: LastUpdatedTimestamp?.getTime() ?? 0 });
    }
  }
  return resources;
}

function factsOf(
  name: string,
  region: string,
  { table, results, api, url, workflow, deadLetters, logs, tools }: ServerMark,
  resources: ReadonlyMap<string, StackResource>,
): ServerFacts {
  const physical = (logicalId: string | undefined) => resources.get(logicalId ?? '')?.physicalId;
  const named = (ids: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(ids).map(([part, id]) => [part, physical(id) ?? '']));
  const toolFacts = ({ stateMachine, handler, logs: group, repeatable = false, ...rest }: ToolMark): ToolFacts => {
    const [stateMachineArn, logGroup] = [physical(stateMachine), physical(group)];
    const changedAt = Math.max(0, ...[handler, stateMachine].map((id) => resources.get(id ?? '')?.changedAt ?? 0));
    return {
      ...rest,
      repeatable,
      ...(stateMachineArn !== undefined && { stateMachineArn }),
      ...(logGroup !== undefined && { logGroup }),
      ...(changedAt > 0 && { changedAt }),
    };
  };
  return {
    name,
    region,
    table: physical(table) ?? '',
    bucket: physical(results) ?? '',
    ...(url !== undefined && { url: filled(url, { api: physical(api) ?? '', region, suffix: suffixOf(region) }) }),
    machineArnPrefix: physical(workflow)?.replace(/standard$/, '') ?? '',
    deadLetters: named(deadLetters),
    logGroups: named(logs),
    tools: new Map(Object.entries(tools).map(([tool, mark]) => [tool, toolFacts(mark)])),
  };
}

const filled = (url: string, values: Readonly<Record<string, string>>): string =>
  url.replace(/\{(\w+)\}/g, (_text, name: string) => values[name] ?? '');

/** The end of the host names of AWS in a region. */
const suffixOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.com.cn' : region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
