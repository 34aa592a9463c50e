import { bindingOf } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject, type RequestId } from '../jsonrpc.ts';
import type { Call, Server } from '../server.ts';

/**
 * A request whose answer waits for a task. All its state travels in the event ids of its stream, sealed, so that any
 * container can go on with it (C-19): which request, which task, what was sent already.
 */
export interface HeldCall {
  readonly id: RequestId;
  readonly taskId: string;
  /** `result`: tasks/result, waits as long as it takes. `call`: tools/call, until the inline window closes. */
  readonly delivers: 'call' | 'result';
  readonly version: string;
  /** call: when the window closes, in ms since the epoch. */
  readonly closesAt: number;
  /** Questions sent on this stream that were open at the last one: wire keys, with the number of refused answers before (`askedAs`). */
  readonly asked: readonly string[];
  readonly progressToken?: RequestId;
  /** The last progress value sent, and the `updatedAt` of the record it came from. */
  readonly progress: number;
  readonly seenAt: number;
  /** Differs on every connection. */
  readonly stream: string;
  /** Its answer has been sent: nothing is left to resume. */
  readonly answered?: true;
  /** Makes each event id unique (B-11). */
  readonly sequence: number;
}

const purpose = (call: Pick<Call, 'principal'>) => `event:${bindingOf(call.principal)}`;

export function holdFor(call: Call, record: TaskRecord, delivers: HeldCall['delivers'], server: Server): HeldCall {
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

/** a token is a string or an integer. One that no record has room for goes without progress, which may be left out. */
export function progressTokenOf({ params }: Pick<Call, 'params'>): RequestId | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  if (typeof token === 'string') return token.length <= limits.progressToken ? token : undefined;
  return Number.isSafeInteger(token) ? (token as number) : undefined;
}

export function sealHeld(call: Pick<Call, 'principal'>, held: HeldCall, server: Server): Promise<string> {
  return server.signer.seal(purpose(call), held);
}

/** The stream a Last-Event-ID belongs to; undefined when it is not one of ours for this caller (B-09, B-11). */
export async function openHeld(
  call: Pick<Call, 'principal'>,
  eventId: string,
  server: Server,
): Promise<HeldCall | undefined> {
  return (await server.signer.open(purpose(call), eventId)) as HeldCall | undefined;
}
