import type { Iam } from './iam/index.ts';
import { createLogs } from './logs/index.ts';
import { createCloudFormation } from './query/cloudformation.ts';
import { createSts } from './query/sts.ts';
import { readTopics } from './sns/resources.ts';
import { createTopics } from './sns/topics.ts';
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

/** Makes the calls of an operator about a server: its resources, its log lines, its dead letters, and who calls; and topics. */
export function createOperations({ stacks, queues, iam, account, now }: OperationsContext) {
  const logs = createLogs(stacks(), now);
  const started = now();
  const changes = new Map<string, number>();
  const sqs = jsonService('sqs', '1.0', queues.operations);
  const topics = createTopics(readTopics(stacks()), now);
  return {
    json: {
      Logs_20140328: jsonService('logs', '1.1', logs.operations),
      AmazonSQS: sqs,
    },
    query: [
      createCloudFormation({ stacks, changedAt: (logicalId) => changes.get(logicalId) ?? started }),
      createSts(account, iam.userOf),
      topics.query,
    ],
    /** What integrations of state machines call. */
    called: { sqs, sns: jsonService('sns', '1.0', topics.operations) },
    topics: topics.messages,
    keep: logs.keep,
    changed: (logicalId: string) => void changes.set(logicalId, now()),
  };
}
