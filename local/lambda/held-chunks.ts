import type { Reply } from './job.ts';
import { preludeDelimiter } from './protocol.ts';

/**
 * Keeps what a function wrote last until it writes again or ends. Lambda is reported to do that with small chunks
 * (aws-lambda-nodejs-runtime-interface-client#94 and #102, H4ad/serverless-adapter#166); no document of AWS says it. What is
 * written in one turn is one chunk. Metadata that share a chunk with a part of the body leave a chunk later.
 */
export function heldChunks(reply: Reply): Reply {
  let kept: Uint8Array[][] = [];
  let turn: Uint8Array[] | undefined;
  let most = 1;
  let isFirst = true;
  const pass = (): void => {
    for (const bytes of kept.flat()) reply.chunk(bytes, () => undefined);
    kept = [];
    most = 1;
  };
  const begin = (): Uint8Array[] => {
    if (kept.length >= most) pass();
    const chunk: Uint8Array[] = [];
    kept.push(chunk);
    queueMicrotask(() => {
      if (isFirst && !endsWithMetadata(Buffer.concat(chunk))) most = 2;
      isFirst = false;
      turn = undefined;
    });
    return chunk;
  };
  return {
    ...reply,
    chunk(bytes, taken) {
      turn ??= begin();
      turn.push(bytes);
      taken();
    },
    end() {
      pass();
      reply.end();
    },
  };
}

const endsWithMetadata = (chunk: Buffer): boolean => chunk.subarray(-preludeDelimiter.length).equals(preludeDelimiter);
