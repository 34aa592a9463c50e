import { createHash, randomBytes } from 'node:crypto';
import type { TaskKey, TaskRecord } from './record.ts';

/** Crockford's base 32, lower case: safe in an execution name, a header and a URL; sorts like the bytes. */
export const ID_LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const ID = /^(?:([0-9a-hjkmnp-tv-z]{26})_)?[0-9a-hjkmnp-tv-z]{36}$/;

/**
 * Who is calling. With auth on, only the verified key decides. An anonymous caller is identified by its 2025-11-25
 * session, if it has one. Otherwise each task has its own partition, and its id is a bearer key.
 */
export type Principal =
  | {
      readonly kind: 'verified';
      readonly key: string;
      /** The scopes of the caller's token. They decide what the caller may do, not whose a task is. @default none */
      readonly scopes?: readonly string[];
      /** What tools see of the caller: `caller` of a record. @default nothing */
      readonly shown?: string;
    }
  | { readonly kind: 'anonymous'; readonly session?: string };

/**
 * A new key, with at least 128 random bits (C-36, E-30), which sorts by creation time within an owner. With an
 * idempotency key: the one key that belongs to it.
 */
export function newTaskKey(principal: Principal, now: number, idempotencyKey?: string): TaskKey {
  const id = idempotencyKey === undefined ? encode(now, 10) + random(26) : derived(principal, idempotencyKey);
  if (principal.kind === 'verified') return { owner: principal.key, taskId: id };
  if (principal.session === undefined) return { owner: `task#${id}`, taskId: id };
  const partition = hashPart(principal.session);
  return { owner: `session#${partition}`, taskId: `${partition}_${id}` };
}

/** The same caller and key give the same id. Without a session the key identifies the caller: it must be a secret. */
function derived(principal: Principal, idempotencyKey: string): string {
  const digest = createHash('sha512')
    .update(JSON.stringify([bindingOf(principal), idempotencyKey]))
    .digest();
  return letters(digest.subarray(0, 36));
}

/** The table key of a task of this caller with this id. Undefined when this server makes no such id. */
export function taskKey(principal: Principal, taskId: unknown): TaskKey | undefined {
  const match = typeof taskId === 'string' ? ID.exec(taskId) : null;
  if (!match) return undefined;
  const id = match[0];
  if (principal.kind === 'verified') return { owner: principal.key, taskId: id };
  return { owner: match[1] === undefined ? `task#${id}` : `session#${match[1]}`, taskId: id };
}

/** When a task was created, in ms since the epoch, by its id. Another moment if it has an idempotency key. */
export const createdAtOf = (taskId: string): number => numberOf(taskId.slice(taskId.indexOf('_') + 1).slice(0, 10));

/** The key of a new task of the owner of another one. */
export const newKeyBeside = (key: TaskKey, now: number): TaskKey => keyOf(key, encode(now, 10) + random(26));

/** The one key of the task that runs another one again: a second attempt finds the task of the first. */
export function rerunKey(key: TaskKey): TaskKey {
  const digest = createHash('sha512')
    .update(JSON.stringify([key.taskId, 'rerun']))
    .digest();
  return keyOf(key, letters(digest.subarray(0, 36)));
}

/** The key of a task, by its owner and the last 36 characters of its id. */
export function keyOf({ owner }: Pick<TaskKey, 'owner'>, id: string): TaskKey {
  const [kind, partition] = owner.split('#', 2);
  if (kind === 'task') return { owner: `task#${id}`, taskId: id };
  return { owner, taskId: kind === 'session' ? `${partition}_${id}` : id };
}

/**
 * The key of a verified caller: the issuer of the claims, and their user, or their client if they name no user (G-15).
 */
export function verifiedKey(issuer: string, kind: 'user' | 'client', name: string): string {
  return `owner#${hashPart(JSON.stringify([issuer, kind, name]))}`;
}

/** What a sealed token is bound to: it opens for this caller only. Anonymous callers without a session share one. */
export function bindingOf(principal: Principal): string {
  return principal.kind === 'verified' ? principal.key : (principal.session ?? 'anonymous');
}

/** The partition whose tasks this caller may list; undefined for an anonymous caller without a session. */
export function listPartition(principal: Principal): string | undefined {
  if (principal.kind === 'verified') return principal.key;
  return principal.session === undefined ? undefined : sessionPartition(principal.session);
}

/** The partition of the notes on a 2025-11-25 session. An anonymous client's tasks lie there, too. */
export const sessionPartition = (session: string): string => `session#${sessionHalfOf(session)}`;

/** The part of an anonymous client's task ids that its session says. */
export const sessionHalfOf = (session: string): string => hashPart(session);

/** Named after the round, so a second start of the round starts nothing. */
export function executionName(taskId: string, round: number): string {
  return `${taskId}-r${round}`;
}

/** The execution of a record's round. */
export function executionArnOf({ taskId, round }: Pick<TaskRecord, 'taskId' | 'round'>, machineArn: string): string {
  return `${machineArn.replace(':stateMachine:', ':execution:')}:${executionName(taskId, round)}`;
}

/** How far the clocks of the endpoint and of Step Functions may differ, in ms. */
const SKEW = 60_000;

/** Whether an execution is one of an older task, whose idempotency key this task has used again. In ms since the epoch. */
export const isOlder = (startedAt: number | undefined, { createdAt }: Pick<TaskRecord, 'createdAt'>): boolean =>
  startedAt !== undefined && startedAt < createdAt - SKEW;

/** Spreads tasks over at most 1,024 shards, by the end of their ids, which is random. `lib/workflow/write.jsonata` does the same. */
export const shardOf = (taskId: string, shards: number): number => numberOf(taskId.slice(-2)) % shards;

/** A new `hookKey` of a record. */
export const newHookKey = (): string => randomBytes(16).toString('base64url');

export function newSessionKey(): string {
  return random(26);
}

const random = (length: number): string => letters(randomBytes(length));

/** One letter for each byte. */
const letters = (bytes: Buffer): string => Array.from(bytes, (byte) => ID_LETTERS[byte & 31]).join('');

/** Letters that no id has count as 0. */
const numberOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum * 32 + Math.max(0, ID_LETTERS.indexOf(letter)), 0);

function encode(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = ID_LETTERS[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function hashPart(text: string): string {
  return letters(createHash('sha256').update(text).digest().subarray(0, 26));
}
