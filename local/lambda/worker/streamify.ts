import { preludeDelimiter } from '../protocol.ts';
import { streamingMark, type UserHandler } from './load.ts';
import type { ResponseStream } from './response-stream.ts';

const streamifyResponse = (handler: UserHandler): UserHandler =>
  Object.assign(handler, { [streamingMark]: 'response' });

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
