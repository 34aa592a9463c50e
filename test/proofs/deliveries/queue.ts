import type { Time } from './time.ts';

export interface Message {
  readonly id: string;
  readonly group: string;
  readonly body: string;
  readonly sentAt: number;
  /** Of this receipt: a later one makes it void. */
  readonly receipt: string;
  readonly receives: number;
}

const MINUTE = 60_000;
/** For so long SQS takes no second message with the same deduplication id. */
const DEDUPLICATION = 5 * MINUTE;
const RETENTION = 14 * 24 * 60 * MINUTE;

/**
 * A FIFO queue of SQS, on the clock of a schedule. Of each group only the first message can be received, and none while that
 * one is in flight.
 *
 * @param visibility of a received message, in ms
 * @param changed called when a message may have become visible, at that time
 */
export function createQueue(time: Time, visibility: number, changed: () => void) {
  const groups = new Map<string, { -readonly [K in keyof Message]: Message[K] }[]>();
  const hiddenUntil = new Map<string, number>();
  const known = new Map<string, number>();
  let count = 0;

  const later = (at: number) => time.at(at, changed);
  const isHidden = (id: string) => (hiddenUntil.get(id) ?? 0) > time.now();
  const headOf = (group: string) => {
    const messages = groups.get(group) ?? [];
    while ((messages[0]?.sentAt ?? Number.POSITIVE_INFINITY) + RETENTION <= time.now()) messages.shift();
    return messages[0];
  };
  const held = (receipt: string) => {
    for (const group of groups.keys()) {
      const head = headOf(group);
      if (head?.receipt === receipt && isHidden(head.id)) return head;
    }
    throw new Error('ReceiptHandleIsInvalid');
  };

  return {
    send(group: string, deduplication: string, body: string): void {
      const before = known.get(deduplication);
      if (before !== undefined && time.now() < before + DEDUPLICATION) return;
      known.set(deduplication, time.now());
      const id = `m${++count}`;
      groups.set(group, [
        ...(groups.get(group) ?? []),
        { id, group, body, sentAt: time.now(), receipt: '', receives: 0 },
      ]);
      later(time.now());
    },
    receive(): Message | undefined {
      for (const group of groups.keys()) {
        const head = headOf(group);
        if (head === undefined || isHidden(head.id)) continue;
        head.receives += 1;
        head.receipt = `${head.id}/${head.receives}`;
        hiddenUntil.set(head.id, time.now() + visibility);
        later(time.now() + visibility);
        return { ...head };
      }
      return undefined;
    },
    hide(receipt: string, seconds: number): void {
      if (!Number.isInteger(seconds) || seconds < 0 || seconds > 43_200) throw new Error('InvalidParameterValue');
      const { id } = held(receipt);
      hiddenUntil.set(id, time.now() + seconds * 1_000);
      later(time.now() + seconds * 1_000);
    },
    delete(receipt: string): void {
      const { group } = held(receipt);
      groups.get(group)?.shift();
      later(time.now());
    },
    /** The bodies of the messages of a group that are left. */
    bodiesOf: (group: string): readonly string[] =>
      headOf(group) === undefined ? [] : (groups.get(group) ?? []).map(({ body }) => body),
    /** Messages that are left. */
    size: () =>
      [...groups.keys()].reduce(
        (sum, group) => sum + (headOf(group) === undefined ? 0 : (groups.get(group)?.length ?? 0)),
        0,
      ),
  };
}

export type Queue = ReturnType<typeof createQueue>;
