import { preludeDelimiter } from '../protocol.ts';
import { highWaterMarkMark, streamingMark, type UserHandler } from './load.ts';
import type { ResponseStream } from './response-stream.ts';

function streamifyResponse(handler: UserHandler, options?: { highWaterMark?: number }): UserHandler {
  const marks = { [streamingMark]: 'response', [highWaterMarkMark]: options?.highWaterMark };
  return Object.assign(handler, marks);
}

/** Sends the metadata at the first write, as AWS does: a stream that only ends, or ends with its only chunk, sends none. */
function from(stream: ResponseStream, metadata: unknown): ResponseStream {
  stream.setContentType('application/vnd.awslambda.http-integration-response');
  const prelude = JSON.stringify(metadata);
  stream._onBeforeFirstWrite = (write) => {
    write(prelude);
    write(preludeDelimiter);
  };
  return stream;
}

/** Sets the global `awslambda` of Lambda's Node.js runtime. */
export function installStreaming(): void {
  Object.assign(globalThis, { awslambda: { streamifyResponse, HttpResponseStream: { from } } });
}
