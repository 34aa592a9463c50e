import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { contextOf } from '../../../../../bin/tasks/connect.ts';
import { discover } from '../../../../../bin/tasks/discover.ts';
import type { Act, OperatorContext } from '../../../../../functions/operator/context.ts';
import type { Cloud } from '../../../../../local/cloud.ts';
import { clientConfig } from '../../../../../local/test/fixture.ts';

/** The access keys of operators begin so. The operators of the storm are `operator-1`, `operator-2`. */
const KEY = 'operator-';
/** No fault strikes its calls. */
export const UNHARMED = 'unharmed';

export const isOperator = (caller: string): boolean => caller.startsWith(KEY);

/** The context in which an operator acts: each has an access key, by which faults and the call log know the calls. */
export type Connect = (who: string, audit: (act: Act) => void) => OperatorContext;

/** `mcp-task-server tasks` on the server of a cloud, without its command line. */
export async function connectTo(cloud: Cloud): Promise<Connect> {
  const { region, endpoint, stacks, clock } = cloud;
  const cloudFormation = new CloudFormationClient(clientConfig(cloud));
  const server = await discover(cloudFormation, region, stacks[0] ?? '', undefined);
  const contexts = new Map<string, OperatorContext>();
  return (who, audit) => {
    const credentials = async () => ({ accessKeyId: who, secretAccessKey: 'local' });
    const acting = { who: async () => who, audit };
    const context = contexts.get(who) ?? contextOf(server, { region, endpoint, credentials }, acting);
    contexts.set(who, context);
    return { ...context, ...acting, now: clock.now };
  };
}

export const nameOf = (index: number): string => `${KEY}${index + 1}`;
