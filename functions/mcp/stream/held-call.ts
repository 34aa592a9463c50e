import { randomBytes } from 'node:crypto';
import { bindingOf, sessionHalfOf, taskKey } from '../../tasks/ids.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import type { Call, ServerContext } from '../context.ts';
import { progressTokenOf } from '../protocol/call-params.ts';
import type { RequestId } from '../protocol/jsonrpc.ts';
import { LEGACY_VERSIONS } from '../protocol/versions.ts';
import { type HasPrincipal, shortHash } from './questions.ts';

/** A request that waits for a task. Any container can resume it: its event ids hold its state, signed (C-19). */
export interface HeldCall extends TaskKey {
  readonly id: RequestId;
  /** `result`: tasks/result, which waits until the task ends. `call`: tools/call, which waits for the inline window. */
  readonly delivers: 'call' | 'result';
  readonly version: string;
  /** For `call`: when the inline window ends, in ms since the epoch. */
  readonly closesAt: number;
  /** Questions sent on this stream, as `askedMark`, or one digest of them. Only those that were open when the last one was sent. */
  readonly asked: readonly string[];
  /** Links that the client was given, as `linkMark`, until the stream has said that they are over. */
  readonly links: readonly string[];
  readonly progressToken?: RequestId;
  /** Whether the record has the same token: a resumed call reads it there. */
  readonly tokenOfTask: boolean;
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
    owner: record.owner,
    taskId: record.taskId,
    delivers,
    version: call.version,
    closesAt: server.now() + server.manifest.inlineWindow,
    asked: [],
    links: [],
    ...(progressToken !== undefined && { progressToken }),
    tokenOfTask: progressToken !== undefined && progressToken === record.progressToken,
    progress: -1,
    // Later than a task that is as old as what an event id can say.
    seenAt: Math.max(record.createdAt, server.now() - TIME / 2),
    stream: '',
    sequence: 0,
  };
}

/** A random name, so that two connections of one call have different event ids. */
export const streamName = (): string => randomBytes(4).toString('base64url');

const MARK_LENGTH = 5;
const MARKS = new RegExp(`.{${MARK_LENGTH}}`, 'g');
/** In an event id. A client that is given more at once hears of the others only until its stream ends. */
const MOST_LINKS = 4;
/** A question, short enough for an event id. Two questions of one task have the same mark once in 2^30. */
export const askedMark = (askedAs: string): string => shortHash(askedAs, MARK_LENGTH);

/** Times in an event id are in ms, modulo 25 days: an older one is read as a later one, still before its stream. */
const TIME = 36 ** 6;
/** How far the clock of a writer may be ahead, in ms. */
const SKEW = 3_600_000;

/**
 * The event id. A client sends it in a header: with an integer or 11 plain characters as request id it has at
 * most 120, with a UUID 145, and up to 21 more while links are open that the client was given. The half of the task
 * id that the session says is not in it, nor a token of the task. Fields have a fixed order, integers are in base 36.
 */
export function sealHeld(call: HasPrincipal, held: HeldCall, server: ServerContext): Promise<string> {
  const { taskId, delivers, version, closesAt, asked, links, progress, seenAt, stream, sequence, tokenOfTask } = held;
  const kind = held.answered ? 'a' : delivers === 'call' ? 'c' : 'r';
  const half = sessionHalf(call);
  const fields = [
    `${tokenOfTask ? kind.toUpperCase() : kind}${LEGACY_VERSIONS.indexOf(version)}`,
    taskId.startsWith(half) ? taskId.slice(half.length) : `.${taskId}`,
    delivers === 'call' ? Math.ceil((closesAt - seenAt) / 1_000).toString(36) : '',
    (seenAt % TIME).toString(36),
    shortProgress(progress),
    stream + sequence.toString(36),
    askedText(asked),
    escaped(held.id),
    ...(links.length > 0 ? [links.slice(0, MOST_LINKS).join('')] : []),
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
  const [head = '', task = '', closesIn = '', seen = '', progress = '', , asked = '', request = '', links = ''] =
    text.split('~');
  const key = taskKey(call.principal, task.startsWith('.') ? task.slice(1) : sessionHalf(call) + task);
  if (key === undefined) return undefined;
  const kind = head.charAt(0).toLowerCase();
  const latest = server.now() + SKEW;
  const seenAt = latest - ((latest - Number.parseInt(seen, 36)) % TIME);
  return {
    id: plain(request),
    ...key,
    delivers: kind === 'c' ? 'call' : 'result',
    version: LEGACY_VERSIONS[Number(head[1])] ?? '',
    closesAt: kind === 'c' ? seenAt + Number.parseInt(closesIn, 36) * 1_000 : 0,
    asked: asked.startsWith(DIGEST) ? [asked] : (asked.match(MARKS) ?? []),
    links: links.match(MARKS) ?? [],
    tokenOfTask: head.charAt(0) !== kind,
    progress: progress === NO_MORE ? Number.POSITIVE_INFINITY : Number(progress),
    seenAt,
    stream: '',
    ...(kind === 'a' && { answered: true }),
    sequence: 0,
  };
}

/** What begins the id of a task of this anonymous caller's session. */
const sessionHalf = ({ principal }: HasPrincipal): string =>
  principal.kind === 'anonymous' && principal.session !== undefined ? `${sessionHalfOf(principal.session)}_` : '';

const DIGEST = '.';

/** More than one mark as one digest. If one of these questions is closed by then, a resumed stream asks the others again. */
function askedText(asked: readonly string[]): string {
  if (asked.length < 2) return asked[0] ?? '';
  return DIGEST + shortHash([...asked].sort().join(), MARK_LENGTH);
}

/** The marks of the open questions that have been sent on this stream. @param open the marks of all open questions */
export function sentOf({ asked }: HeldCall, open: readonly string[]): ReadonlySet<string> {
  const [digest = ''] = asked;
  return new Set(digest.startsWith(DIGEST) && digest === askedText(open) ? open : asked);
}

const NO_MORE = '_';
const LONGEST_PROGRESS = 7;

/** Rounded up if it is long, so that later values still increase. If even that is long, there is no progress after a resume. */
function shortProgress(value: number): string {
  const exact = String(value).replace('+', '');
  if (exact.length <= LONGEST_PROGRESS) return exact;
  const exponent = Math.floor(Math.log10(Math.abs(value))) - 2;
  const rounded = `${Math.ceil(value / 10 ** exponent)}e${exponent}`;
  return rounded.length <= LONGEST_PROGRESS && Number(rounded) >= value ? rounded : NO_MORE;
}

const PLAIN_TEXT = /^[A-Za-z0-9-]+$/;

/** For a signed text: an integer in base 36, a plain string as it is, any other as JSON (which keeps lone surrogates) in base64url. */
function escaped(value: RequestId): string {
  if (typeof value === 'number') return value.toString(36);
  return PLAIN_TEXT.test(value) ? `_${value}` : `.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
}

function plain(text: string): RequestId {
  if (text.startsWith('_')) return text.slice(1);
  return text.startsWith('.')
    ? JSON.parse(Buffer.from(text.slice(1), 'base64url').toString())
    : Number.parseInt(text, 36);
}
