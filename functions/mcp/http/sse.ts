import { Readable } from 'node:stream';
import type { HttpReply } from './http.ts';

/**
 * What a method returns if its answer takes a while: frames, the last of which carries the answer (A-07, A-11). `gone`
 * is aborted when the client has disconnected. The frames can end then. An empty frame says that there is nothing to send.
 */
export class EventStream {
  readonly frames: (gone: AbortSignal) => AsyncGenerator<string>;
  /** Called when the reader leaves, also before the first frame: frames that have not begun cannot clean up. */
  readonly left: () => Promise<void>;

  constructor(
    now: () => number,
    frames: (gone: AbortSignal) => AsyncGenerator<string>,
    left: () => Promise<void> = async () => {},
  ) {
    this.frames = (gone) => withComments(frames(gone), now);
    this.left = left;
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

/** Keeps proxies from closing a quiet stream. */
export const KEEP_ALIVE = ': keep-alive\n\n';
/** After this time without a frame, in ms. */
const QUIET = 15_000;

async function* withComments(frames: AsyncGenerator<string>, now: () => number): AsyncGenerator<string> {
  let sentAt = now();
  for await (const frame of frames) {
    if (frame === '' && now() - sentAt < QUIET) continue;
    sentAt = now();
    yield frame || KEEP_ALIVE;
  }
}

/** These keep proxies from buffering frames (docs/protocol.md 1.3). */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

export function streamReply(stream: EventStream, headers: Readonly<Record<string, string>>): HttpReply {
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...headers },
    body: Readable.from(untilGone(stream), { objectMode: false }),
  };
}

/**
 * Frames are made when they are read, so a slow reader slows the work down. When the reader disconnects, `return`
 * aborts `gone` at once. A plain generator would notice only at its next frame, and would poll until then.
 */
function untilGone({ frames, left }: EventStream): AsyncIterable<string> {
  const gone = new AbortController();
  const made = frames(gone.signal);
  const iterator: AsyncIterator<string> = {
    next: () => made.next(),
    return: async () => {
      gone.abort();
      const ended = await made.return(undefined);
      await left();
      return ended;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
