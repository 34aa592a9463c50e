import type { Iam } from './iam/index.ts';
import { createLogs } from './logs/index.ts';
import { createCloudFormation } from './query/cloudformation.ts';
import { queueOperations } from './query/queues.ts';
import { createSts } from './query/sts.ts';
import type { Queues } from './sqs/queues.ts';
import type { ResolvedStack } from './template/resources.ts';
import type { Specs } from './template/specs.ts';
import type { QueryService } from './wire/query.ts';
import { jsonService } from './wire/server.ts';
import type { WireService } from './wire/types.ts';

/** The calls of an operator about a server: its resources, its log lines, its dead letters, and who calls. */
export interface Operations {
  readonly json: Readonly<Record<string, WireService>>;
  readonly query: readonly QueryService[];
  /** Keeps a log line of a function. */
  keep(functionName: string, line: string): void;
  /** A resource was deployed again. */
  changed(logicalId: string): void;
}

export interface OperationsContext {
  /** The stacks that run now. */
  readonly stacks: () => readonly ResolvedStack[];
  readonly specs: Specs;
  readonly queues: Queues;
  readonly iam: Pick<Iam, 'userOf'>;
  readonly account: string;
  readonly now: () => number;
}

export function createOperations({ stacks, specs, queues, iam, account, now }: OperationsContext): Operations {
  const logs = createLogs(stacks(), now);
  const started = now();
  const changes = new Map<string, number>();
  return {
    json: {
      Logs_20140328: jsonService('logs', '1.1', logs.operations),
      AmazonSQS: jsonService('sqs', '1.0', queueOperations(specs.queues, queues)),
    },
    query: [
      createCloudFormation({ stacks, changedAt: (logicalId) => changes.get(logicalId) ?? started }),
      createSts(account, iam.userOf),
    ],
    keep: logs.keep,
    changed: (logicalId) => void changes.set(logicalId, now()),
  };
}
