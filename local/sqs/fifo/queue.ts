import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onDisk, replaceFile } from '../../disk/disk.ts';
import { startTimeout } from '../../time/timeout.ts';
import type { QueueMessage } from '../message.ts';
import type { FifoQueueResource } from './resources.ts';

/** "The deduplication interval": 5 minutes ("Using the message deduplication ID", SQS developer guide). */
const DEDUPLICATION_SECONDS = 300;
/** "Maximum of 120,000 in-flight messages"; "FIFO queues scan the first 120,000 messages" (FIFO queue quotas). */
const MOST_IN_FLIGHT = 120_000;

export interface FifoMessage extends QueueMessage {
  readonly id: string;
  readonly group: string;
  readonly deduplicationId: string;
  readonly sequenceNumber: string;
  /** How many invocations of functions have led to it, each by a message that the one before has sent. */
  readonly hops: number;
  /** How often it was received. */
  received: number;
  firstReceivedAt?: number;
  receivedAt?: number;
  /** The id of the last receipt. */
  handle?: string;
  /** It is in flight until then. */
  visibleAt: number;
}

export interface FifoOptions {
  readonly now: () => number;
  /** Divides the seconds of visibility, deduplication and retention. @default 1 */
  readonly timeScale?: number;
  /** The folder that keeps the messages. @default in memory */
  readonly dataDir?: string | undefined;
  /** Calls back when the clock was moved. */
  readonly onMove?: (moved: () => void) => void;
}

type Sending = Pick<FifoMessage, 'body' | 'attributes' | 'group' | 'deduplicationId' | 'hops'>;
type Duplicate = Pick<FifoMessage, 'id' | 'sequenceNumber' | 'deduplicationId' | 'sentAt'> & { readonly scope: string };

export type FifoQueue = ReturnType<typeof createFifoQueue>;

/**
 * A FIFO queue. "No more messages for the same message group ID are returned unless you delete the message or it becomes visible" (API
 * reference of ReceiveMessage), so the messages of a group are received in the order in which they were sent.
 */
export function createFifoQueue(resource: FifoQueueResource, options: FifoOptions) {
  const { now, timeScale = 1, dataDir } = options;
  const ms = (seconds: number) => (seconds * 1000) / timeScale;
  const file = dataDir === undefined ? undefined : join(dataDir, `queue-${resource.name}.json`);
  const read: { messages: FifoMessage[]; sent: Duplicate[]; last: number } =
    file !== undefined && existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8'))
      : { messages: [], sent: [], last: 0 };
  const { messages } = read;
  let { sent, last } = read;
  const waiting: (() => void)[] = [];

  const keep = () => {
    if (file !== undefined) onDisk(file, () => replaceFile(file, JSON.stringify({ messages, sent, last })));
  };
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  options.onMove?.(wake);
  const scopeOf = ({ group, deduplicationId }: Pick<FifoMessage, 'group' | 'deduplicationId'>) =>
    resource.deduplicatesByGroup ? `${group} ${deduplicationId}` : deduplicationId;
  const dropOld = () => {
    const since = now() - ms(resource.retentionSeconds);
    while (messages[0] !== undefined && messages[0].sentAt < since) messages.shift();
  };
  const inFlight = () => messages.filter(({ visibleAt }) => visibleAt > now());
  const remove = (message: FifoMessage) => {
    messages.splice(messages.indexOf(message), 1);
    keep();
    wake();
  };

  return {
    ...resource,
    messages: messages as readonly FifoMessage[],
    ms,
    /** Adds a message, unless one with its deduplication id was sent in the last 5 minutes. Returns what the sender gets. */
    send(sending: Sending): Pick<FifoMessage, 'id' | 'sequenceNumber'> {
      sent = sent.filter(({ sentAt }) => sentAt > now() - ms(DEDUPLICATION_SECONDS));
      const scope = scopeOf(sending);
      const earlier = sent.find((one) => one.scope === scope);
      if (earlier) return earlier;
      const message: FifoMessage = {
        ...sending,
        id: randomUUID(),
        // "The length of SequenceNumber is 128 bits. It continues to increase for a particular MessageGroupId."
        sequenceNumber: String(++last).padStart(20, '0'),
        sentAt: now(),
        received: 0,
        visibleAt: 0,
      };
      const { id, sequenceNumber, deduplicationId, sentAt } = message;
      sent.push({ id, sequenceNumber, deduplicationId, sentAt, scope });
      messages.push(message);
      keep();
      wake();
      return message;
    },
    /** As many messages of one group as possible, then of others, each invisible for a time. */
    receive(most: number, visibilitySeconds: number): readonly FifoMessage[] {
      dropOld();
      const flying = inFlight();
      if (flying.length >= MOST_IN_FLIGHT) return [];
      const blocked = new Set(flying.map(({ group }) => group));
      const free = messages.slice(0, MOST_IN_FLIGHT).filter(({ group }) => !blocked.has(group));
      const groups = new Set(free.map(({ group }) => group));
      const found = [...groups].flatMap((name) => free.filter(({ group }) => group === name)).slice(0, most);
      for (const message of found) {
        message.received++;
        message.firstReceivedAt ??= now();
        message.receivedAt = now();
        message.handle = randomUUID();
        message.visibleAt = now() + ms(visibilitySeconds);
      }
      if (found.length > 0) keep();
      return found;
    },
    /** The message of a receipt, also one that is visible again. */
    find: (handle: string) => messages.find((message) => message.handle === handle),
    isInFlight: ({ visibleAt }: FifoMessage) => visibleAt > now(),
    /** Whether a new visibility would keep it invisible for longer than this since it was received. */
    isBeyond: ({ receivedAt = now() }: FifoMessage, seconds: number, most: number) =>
      now() + ms(seconds) > receivedAt + ms(most),
    remove,
    changeVisibility(message: FifoMessage, seconds: number): void {
      message.visibleAt = now() + ms(seconds);
      keep();
      wake();
    },
    /** Resolves when there may be something to receive: a message came, went or became visible, or the clock was moved. */
    arrival: (): Promise<void> =>
      new Promise((resolve) => {
        const next = Math.min(...inFlight().map(({ visibleAt }) => visibleAt));
        const cancel = Number.isFinite(next) ? startTimeout(next - now() + 1, resolve) : () => undefined;
        waiting.push(() => {
          cancel();
          resolve();
        });
      }),
    counts: () => ({
      ApproximateNumberOfMessages: String(messages.length - inFlight().length),
      ApproximateNumberOfMessagesNotVisible: String(inFlight().length),
    }),
  };
}

/** What SQS makes from a body without a deduplication id, if the queue says so: its SHA-256. */
export const contentId = (body: string) => createHash('sha256').update(body).digest('hex');
