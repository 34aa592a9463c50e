import type { Iam } from './iam/index.ts';
import { createLogs } from './logs/index.ts';
import { createCloudFormation } from './query/cloudformation.ts';
import { createSts } from './query/sts.ts';
import type { Queues } from './sqs/queues.ts';
import type { ResolvedStack } from './template/resources.ts';
import { jsonService } from './wire/server.ts';

interface OperationsContext {
  readonly stacks: () => readonly ResolvedStack[];
  readonly queues: Queues;
  readonly iam: Pick<Iam, 'userOf'>;
  readonly account: string;
  readonly now: () => number;
}

/** Makes the calls of an operator about a server: its resources, its log lines, its dead letters, and who calls. */
export function createOperations({ stacks, queues, iam, account, now }: OperationsContext) {
  const logs = createLogs(stacks(), now);
  const started = now();
  const changes = new Map<string, number>();
  return {
    json: {
      Logs_20140328: jsonService('logs', '1.1', logs.operations),
      AmazonSQS: jsonService('sqs', '1.0', queues.operations),
    },
    query: [
      createCloudFormation({ stacks, changedAt: (logicalId) => changes.get(logicalId) ?? started }),
      createSts(account, iam.userOf),
    ],
    keep: logs.keep,
    changed: (logicalId: string) => void changes.set(logicalId, now()),
  };
}
