import { randomBytes } from 'node:crypto';
import { bindingOf } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Call, ServerContext } from '../context.ts';
import type { RequestId } from '../protocol/jsonrpc.ts';
import { LEGACY_VERSIONS } from '../protocol/versions.ts';
import { type HasPrincipal, shortHash } from './questions.ts';

/** A request that waits for a task. Any container can resume it: its event ids hold its state, signed (C-19). */
export interface HeldCall {
  readonly id: RequestId;
  readonly taskId: string;
  /** `result`: tasks/result, which waits until the task ends. `call`: tools/call, which waits for the inline window. */
  readonly delivers: 'call' | 'result';
  readonly version: string;
  /** For `call`: when the inline window ends, in ms since the epoch. */
  readonly closesAt: number;
  /** Questions sent on this stream, as `askedMark`. Only those that were open when the last one was sent. */
  readonly asked: readonly string[];
  readonly progressToken?: RequestId;
  /** The last progress value sent, and the `updatedAt` of the record it came from. */
  readonly progress: number;
  readonly seenAt: number;
  /** Differs on every connection. */
  readonly stream: string;
  /** The answer has been sent, so a resume has nothing to send. */
  readonly answered?: true;
  /** Makes each event id unique (B-11). */
  readonly sequence: number;
}

const purpose = (call: HasPrincipal) => `event:${bindingOf(call.principal)}`;

export function holdFor(
  call: Call,
  record: TaskRecord,
  delivers: HeldCall['delivers'],
  server: ServerContext,
): HeldCall {
  const progressToken = delivers === 'result' ? record.progressToken : progressTokenOf(call);
  return {
    id: call.id,
    taskId: record.taskId,
    delivers,
    version: call.version,
    closesAt: server.now() + server.manifest.inlineWindow,
    asked: [],
    ...(progressToken !== undefined && { progressToken }),
    progress: -1,
    seenAt: record.createdAt,
    stream: '',
    sequence: 0,
  };
}

/** a token is a string or an integer. A token too long for a record is ignored: progress is optional. */
export function progressTokenOf({ params }: Pick<Call, 'params'>): RequestId | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  if (typeof token === 'string') return token.length <= limits.progressToken ? token : undefined;
  return Number.isSafeInteger(token) ? (token as number) : undefined;
}

/** A random name, so that two connections of one call have different event ids. */
export const streamName = (): string => randomBytes(4).toString('base64url');

const MARK_LENGTH = 5;
const MARKS = new RegExp(`.{${MARK_LENGTH}}`, 'g');
/** A question, short enough for an event id. Two questions of one task have the same mark once in 2^30. */
export const askedMark = (askedAs: string): string => shortHash(askedAs, MARK_LENGTH);

/** The event id: short, because a client sends it in a header. Fields have a fixed order, numbers are in base 36. */
export function sealHeld(call: HasPrincipal, held: HeldCall, server: ServerContext): Promise<string> {
  const { taskId, delivers, version, closesAt, asked, progress, seenAt, stream, sequence } = held;
  const kind = held.answered ? 'a' : delivers === 'call' ? 'c' : 'r';
  const fields = [
    `${kind}${LEGACY_VERSIONS.indexOf(version)}${taskId}`,
    delivers === 'call' ? closesAt.toString(36) : '',
    seenAt.toString(36),
    escaped(progress),
    stream + sequence.toString(36),
    asked.join(''),
    escaped(held.id),
    ...(held.progressToken === undefined ? [] : [escaped(held.progressToken)]),
  ];
  return server.signer.sign(purpose(call), fields.join('~'));
}

/** The held call of a Last-Event-ID. Undefined if the id was not signed for this caller (B-09, B-11). */
export async function openHeld(
  call: HasPrincipal,
  eventId: string,
  server: ServerContext,
): Promise<HeldCall | undefined> {
  const text = await server.signer.verify(purpose(call), eventId);
  if (text === undefined) return undefined;
  const [head = '', closesAt = '', seenAt = '', progress = '', , asked = '', id = '', token] = text.split('~');
  return {
    id: plain(id),
    taskId: head.slice(2),
    delivers: head[0] === 'c' ? 'call' : 'result',
    version: LEGACY_VERSIONS[Number(head[1])] ?? '',
    closesAt: Number.parseInt(closesAt || '0', 36),
    asked: asked.match(MARKS) ?? [],
    ...(token !== undefined && { progressToken: plain(token) }),
    progress: Number(plain(progress)),
    seenAt: Number.parseInt(seenAt, 36),
    stream: '',
    ...(head[0] === 'a' && { answered: true }),
    sequence: 0,
  };
}

/** For a signed text: a number in decimal, a string as JSON (which keeps lone surrogates) in base64url. */
const escaped = (value: RequestId): string =>
  typeof value === 'number'
    ? String(value).replace('+', '')
    : `.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
const plain = (text: string): RequestId =>
  text.startsWith('.') ? JSON.parse(Buffer.from(text.slice(1), 'base64url').toString()) : Number(text);
