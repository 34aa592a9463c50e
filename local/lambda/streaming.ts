import { Readable } from 'node:stream';
import { parsedObject } from '../json.ts';
import { FunctionError } from './errors.ts';
import type { Reply, Settle } from './job.ts';
import { preludeDelimiter } from './protocol.ts';
import type { StreamResult } from './types.ts';

/** API Gateway reads the metadata from the first 16 KB only. */
const maxPreludeBytes = 16 * 1024;

/** The answer of a streaming invocation: resolves with the metadata; the body follows. */
export function streamReply({ resolve, reject }: Settle<StreamResult>): Reply {
  const { body, give } = outgoingBody();
  let head: Buffer | undefined = Buffer.alloc(0);
  let ended = false;

  const abandon = (error: Error): void => {
    reject(error);
    head = undefined;
    body.destroy(error);
  };

  const begin = (metadata: Omit<StreamResult, 'body'> | undefined): void => {
    head = undefined;
    if (metadata) resolve({ ...metadata, body });
    else abandon(malformed('its metadata are not a JSON object'));
  };
  const readHead = (bytes: Buffer, taken: () => void): void => {
    const at = bytes.indexOf(preludeDelimiter);
    if (at >= 0) {
      begin(parseMetadata(bytes.toString('utf8', 0, at)));
      give(bytes.subarray(at + preludeDelimiter.length), taken);
      return;
    }
    head = bytes;
    if (bytes.length > maxPreludeBytes) abandon(malformed('no metadata within the first 16 KB'));
    taken();
  };

  return {
    result: () => abandon(malformed('it came as a whole')),
    // A failure after the end of the response does not change it.
    failed: (error) => (ended ? undefined : abandon(new FunctionError(error))),
    refused: (error) => (ended ? undefined : abandon(error)),
    chunk: (bytes, taken) => (head ? readHead(Buffer.concat([head, bytes]), taken) : give(bytes, taken)),
    end() {
      ended = true;
      if (head) abandon(malformed('it ended before its metadata: use HttpResponseStream.from and write once'));
      else if (!body.destroyed) body.push(null);
    },
  };
}

/** A body that reports after each chunk when there is room for more. Without a reader it takes everything. */
function outgoingBody(): { body: Readable; give: (bytes: Uint8Array, taken: () => void) => void } {
  const waiting: (() => void)[] = [];
  const release = (): void => {
    for (const taken of waiting.splice(0)) taken();
  };
  const body = new Readable({
    read: release,
    destroy(error, done) {
      release();
      done(error);
    },
  });
  body.on('error', () => undefined); // a consumer that does not listen must not bring the process down
  const give = (bytes: Uint8Array, taken: () => void): void => {
    if (body.destroyed || bytes.length === 0 || body.push(bytes)) taken();
    else waiting.push(taken);
  };
  return { body, give };
}

interface Metadata {
  statusCode?: number;
  headers?: StreamResult['headers'];
  multiValueHeaders?: StreamResult['headers'];
  cookies?: string[];
}

function parseMetadata(text: string): Omit<StreamResult, 'body'> | undefined {
  const metadata: Metadata | undefined = parsedObject(text);
  if (!metadata) return undefined;
  const { statusCode = 200, headers, multiValueHeaders, cookies } = metadata;
  return { statusCode, headers: { ...headers, ...multiValueHeaders }, ...(cookies ? { cookies } : {}) };
}

function malformed(why: string): FunctionError {
  return new FunctionError({
    errorType: 'Runtime.InvalidStreamingResponse',
    errorMessage: `The response is not one API Gateway can stream: ${why}.`,
  });
}
