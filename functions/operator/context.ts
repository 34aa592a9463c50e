import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { EngineContext } from '../engine/ports.ts';
import type { ResultStore } from '../tasks/results/result-store.ts';
import type { JournalStore } from '../tasks/table/journal-items.ts';
import type { OperatorReads } from '../tasks/table/operator-reads.ts';
import type { OperatorEvents } from '../tasks/table/operators/events.ts';
import type { TaskStore } from '../tasks/table/store.ts';
import type { ToolMark } from './server-mark.ts';

/** What an operator has to know of a tool. */
export interface ToolFacts extends Omit<ToolMark, 'stateMachine' | 'handler' | 'logs'> {
  /** The ARN of the state machine that is the tool, if it is one of the same stack. */
  readonly stateMachineArn?: string;
  readonly logGroup?: string;
  readonly repeatable: boolean;
  /** When CloudFormation last changed its function or its state machine, in ms since the epoch. */
  readonly changedAt?: number;
}

/** What an operator has to know of a deployed server, or of one in the embedded cloud. */
export interface ServerFacts {
  /** The stack and the construct: `Shop/Server`. */
  readonly name: string;
  readonly region: string;
  readonly table: string;
  readonly bucket: string;
  /** The part before `/mcp` of its URL. Undefined: only the deployment knows it. */
  readonly url?: string;
  /** The ARN of each workflow is this and the name of its engine. */
  readonly machineArnPrefix: string;
  /** URLs of the queues of dead letters, by what could not be handled. */
  readonly deadLetters: Readonly<Record<string, string>>;
  /** Log groups of the server itself, by part: `endpoint`, `reconciler`. */
  readonly logGroups: Readonly<Record<string, string>>;
  readonly tools: ReadonlyMap<string, ToolFacts>;
}

/** What one operator did to one task, and why. */
export interface Act {
  readonly act: 'cancel' | 'fail' | 'answer' | 'rerun' | 'unsubscribe';
  /** The id of the subscription, for `unsubscribe`. */
  readonly taskId: string;
  readonly owner: string;
  readonly tool: string;
  /** An IAM identity, or the name of a local user. */
  readonly who: string;
  readonly reason: string;
  /** Whether the task changed by it. */
  readonly done: boolean;
  /** The status after it, or the id of the new task. */
  readonly outcome: string;
}

/** Step Functions. */
export type States = Pick<SFNClient, 'send'>;

/** The clients of AWS that the verbs use, with the credentials of the operator. Tests replace single members. */
export interface OperatorContext extends Omit<EngineContext, 'store'> {
  readonly server: ServerFacts;
  readonly reads: OperatorReads;
  readonly store: Pick<TaskStore, 'create' | 'applyBlind'>;
  readonly results: Pick<ResultStore, 'get'>;
  readonly events: OperatorEvents;
  readonly journal: Pick<JournalStore, 'readEntry'>;
  readonly states: States;
  readonly logs: Pick<CloudWatchLogsClient, 'send'>;
  readonly sqs: Pick<SQSClient, 'send'>;
  /** Who acts: an IAM identity, or the name of a local user. */
  readonly who: () => Promise<string>;
  /** Gets one line for each act. */
  readonly audit: (act: Act) => void;
  readonly sleep: (ms: number) => Promise<void>;
}
