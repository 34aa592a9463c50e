import { Readable } from 'node:stream';
import type { HttpReply } from './http.ts';

/**
 * What a method returns if its answer takes a while: frames, the last of which carries the answer (A-07, A-11). Between them
 * empty frames say that the stream waits now: one before each wait, and one each second of it.
 */
export class EventStream {
  readonly frames: AsyncIterable<string>;

  constructor(frames: AsyncIterable<string>) {
    this.frames = frames;
  }
}

/** One message. With an id, a 2025-11-25 client can resume after it (B-11). */
export function messageFrame(message: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

/** An event id and empty data: from here on the client can resume the stream, `retry` ms after its end (B-10). */
export function primingFrame(id: string, retry: number): string {
  return `id: ${id}\nretry: ${retry}\ndata: \n\n`;
}

/** A comment: keeps proxies from closing a quiet stream, and Lambda from keeping the frame before it. */
export const KEEP_ALIVE = ': keep-alive\n\n';
/** After this time without a frame, in ms. */
const QUIET = 15_000;
/** The time between two writes that must not become one, in ms. */
const APART = 50;

/** These keep proxies from buffering frames (docs/protocol.md 1.3). */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

/** Frames are made when they are read, so a slow reader slows the work down. */
export function streamReply({ frames }: EventStream, clock: Clock, headers: HttpReply['headers'] = {}): HttpReply {
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...headers },
    body: Readable.from(writes(frames, clock), { objectMode: false }),
  };
}

interface Clock {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/**
 * Lambda may keep what is written last until the next write or the end, and for longer where the metadata share a write with a
 * frame (docs/architecture/requests.md, "Streams and held calls"). So frames begin apart from the metadata, and a comment
 * follows them before the stream waits.
 */
export async function* writes(frames: AsyncIterable<string>, { now, sleep }: Clock): AsyncGenerator<string> {
  let first: string | undefined;
  let isOpen = false;
  let isKept = true;
  let sentAt = now();
  for await (const frame of frames) {
    if (first === undefined) {
      // It may be the only one: then it leaves with the end.
      first = frame;
      continue;
    }
    if (!isOpen) {
      isOpen = true;
      await sleep(APART);
      yield first;
    }
    if (frame === '' && isKept) await sleep(APART);
    else if (frame === '' && now() - sentAt < QUIET) continue;
    yield frame || KEEP_ALIVE;
    isKept = frame !== '';
    sentAt = now();
  }
  if (!isOpen && first !== undefined) yield first;
}
