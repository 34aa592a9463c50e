import type { AttributeValue } from 'aws-lambda';
import { KEY } from '../tasks/attributes.ts';
import type { FailureReason } from '../tasks/failures.ts';
import { failureName } from '../tasks/log.ts';
import { STATUSES, type Status, type TaskEvent } from '../tasks/record.ts';
import { isWithdrawn } from '../tasks/transitions/end.ts';
import { isSignalKey } from '../tasks/waits/signals.ts';

export type Image = Readonly<Record<string, AttributeValue>>;

/** The published part of a task record after one change. It has no argument, question, answer or result. */
export interface Snapshot {
  readonly owner: string;
  readonly taskId: string;
  readonly tool: string;
  readonly status: Status;
  readonly round: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly isError: boolean;
  /** Whether no client can know it: its call was refused with HTTP 429. */
  readonly isWithdrawn: boolean;
  /** The name of a failure, if it has one. */
  readonly reason: string | undefined;
  /** How many answers the record itself holds. */
  readonly answers: number;
  readonly waits: string | undefined;
  readonly deadlineAt: number | undefined;
  /** What a token needs to see the task. */
  readonly scopes: readonly string[] | undefined;
  /** As in the record. */
  readonly signalled: readonly string[];
  readonly early: number | undefined;
  /** As in the record: the key of its URLs. It is published nowhere. */
  readonly hookKey: string | undefined;
  readonly traceparent: string | undefined;
  readonly events: readonly TaskEvent[];
}

/** Reads an image; undefined if this release does not know it as a task record. */
export function snapshotOf(image: Image): Snapshot | undefined {
  const text = (name: string) => image[name]?.S;
  const number = (name: string) => numberOf(image[name]);
  const [owner, taskId, tool, status] = [text(KEY.partition), text(KEY.sort), text('tool'), text('status')];
  const [round, createdAt, updatedAt] = [number('round'), number('createdAt'), number('updatedAt')];
  if (owner === undefined || taskId === undefined || tool === undefined || !isStatus(status)) return undefined;
  if (round === undefined || createdAt === undefined || updatedAt === undefined) return undefined;
  return {
    owner,
    taskId,
    tool,
    status,
    round,
    createdAt,
    updatedAt,
    isError: image.isError?.BOOL === true,
    isWithdrawn: isWithdrawn({
      createdAt,
      updatedAt,
      ttl: number('ttl') ?? Number.NaN,
      failure: text('failure') as FailureReason,
    }),
    reason: failureName(text('error')),
    answers: Object.keys(image.inputResponses?.M ?? {}).filter((key) => !isSignalKey(key)).length,
    waits: text('waits'),
    deadlineAt: number('deadlineAt'),
    scopes: image.scopes?.L?.flatMap(({ S }) => S ?? []),
    signalled: (image.signalled?.L ?? []).flatMap(({ S }) => S ?? []),
    early: number('early'),
    hookKey: text('hookKey'),
    traceparent: text('traceparent'),
    events: (image.events?.L ?? []).flatMap(({ M }) => (M === undefined ? [] : eventOf(M))),
  };
}

/** The last time that JavaScript can hold, in milliseconds. It is larger than any count. */
const LAST_TIME = 8.64e15;

const isStatus = (status: string | undefined): status is Status => STATUSES.some((known) => known === status);

function numberOf(value: AttributeValue | undefined): number | undefined {
  const number = Number(value?.N);
  return Math.abs(number) <= LAST_TIME ? number : undefined;
}

function eventOf(map: Image): TaskEvent[] {
  const at = numberOf(map.at);
  if (at === undefined) return [];
  const [round, startedAt] = [numberOf(map.round), numberOf(map.startedAt)];
  return [
    {
      at,
      what: map.what?.S as TaskEvent['what'],
      ...(round !== undefined && { round }),
      ...(startedAt !== undefined && { startedAt }),
      ...(map.by?.S !== undefined && { by: map.by.S as NonNullable<TaskEvent['by']> }),
    },
  ];
}
