import { AwsError } from '../aws-error.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import type { QueryService } from '../wire/query.ts';

export interface DeployedStacks {
  readonly stacks: () => readonly ResolvedStack[];
  /** When a resource was created or last changed, in ms since the epoch. */
  readonly changedAt: (logicalId: string) => number;
}

/** Resources of one page. The API reference of ListStackResources names no number; the console shows 100. */
const PAGE = 100;

/** CloudFormation: only the operations that list a stack's resources. */
export function createCloudFormation({ stacks, changedAt }: DeployedStacks): QueryService {
  const stackOf = (name = ''): ResolvedStack => {
    const found = stacks().find(({ stack }) => stack.name === name);
    if (found === undefined) throw new AwsError('ValidationError', `Stack with id ${name} does not exist`);
    return found;
  };
  const summary = ({ logicalId, type, ref }: Resource) => ({
    LogicalResourceId: logicalId,
    PhysicalResourceId: ref,
    ResourceType: type,
    LastUpdatedTimestamp: new Date(changedAt(logicalId)).toISOString(),
    ResourceStatus: 'CREATE_COMPLETE',
  });
  return {
    name: 'cloudformation',
    operations: {
      ListStackResources({ StackName, NextToken = '0' }) {
        const { resources } = stackOf(StackName);
        const from = Number(NextToken);
        const next = from + PAGE < resources.length ? String(from + PAGE) : undefined;
        return { StackResourceSummaries: resources.slice(from, from + PAGE).map(summary), NextToken: next };
      },
      DescribeStackResource({ StackName, LogicalResourceId = '' }) {
        const { resources, stack } = stackOf(StackName);
        const resource = resources.find(({ logicalId }) => logicalId === LogicalResourceId);
        if (resource === undefined) {
          throw new AwsError('ValidationError', `Resource ${LogicalResourceId} does not exist for stack ${StackName}`);
        }
        const { Metadata } = stack.template.Resources[LogicalResourceId] ?? {};
        return {
          StackResourceDetail: {
            ...summary(resource),
            StackName,
            ...(Metadata && { Metadata: JSON.stringify(Metadata) }),
          },
        };
      },
    },
  };
}
