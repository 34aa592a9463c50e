import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { DeliveryError } from '../ports.ts';
import { allowedAddresses, type Resolve } from './address.ts';
import { callbackUrl, pathOf } from './url.ts';

/** One request to a receiver (docs/events.md). */
export interface SignedPost {
  /** As the subscriber wrote it. */
  readonly url: string;
  /** `whsec_` and base64. Each one signs, in this order. */
  readonly secrets: readonly string[];
  /** The same for each attempt of an event. Without a dot: the signed text is `id.timestamp.body`. */
  readonly webhookId: string;
  readonly subscriptionId: string;
  /** JSON. */
  readonly body: string;
}

export interface PostOptions {
  /** Allows `http`, and receivers on this machine. For `dev` and tests. @default false */
  readonly loopback?: boolean;
  /** For everything from the resolution of the name to the answer, in ms. @default 10,000 */
  readonly timeout?: number;
  /** How much of the body of the answer is read, in bytes. @default none */
  readonly answerBytes?: number;
  /** In ms since the epoch. @default Date.now */
  readonly now?: () => number;
  /** @default by the resolver of the operating system */
  readonly resolve?: Resolve;
}

/** The body is cut after `answerBytes`. */
export type Answer = { readonly status: number; readonly body: string } | { readonly error: DeliveryError };

const TIMEOUT = 10_000;

/**
 * Signs a request by Standard Webhooks and sends it, once. The name is resolved each time, and each address checked; the
 * connection goes to a checked one. It follows no redirect and uses no proxy. Never rejects.
 */
export async function postSigned(post: SignedPost, options: PostOptions = {}): Promise<Answer> {
  const { loopback = false, timeout = TIMEOUT, resolve } = options;
  const url = callbackUrl(post.url, { loopback });
  if (url === undefined) return { error: 'connection_refused' };
  const signal = AbortSignal.timeout(timeout);
  const late = new Promise<undefined>((end) => signal.addEventListener('abort', () => end(undefined), { once: true }));
  try {
    const addresses = await Promise.race([allowedAddresses(url.hostname, { loopback, resolve }), late]);
    if (addresses === undefined) return { error: 'timeout' };
    // Only these addresses: a second resolution could give others.
    const lookup: LookupFunction = (_hostname, { all }, callback) => {
      const [{ address, family } = { address: '', family: 0 }] = addresses;
      if (all) callback(null, [...addresses]);
      else callback(null, address, family);
    };
    return await send(url, { ...post, lookup, signal, options });
  } catch {
    return { error: 'connection_refused' };
  }
}

interface Sending extends SignedPost {
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
  readonly options: PostOptions;
}

function send(url: URL, { lookup, signal, options, ...post }: Sending): Promise<Answer> {
  const { answerBytes = 0, now = Date.now } = options;
  const headers = { ...signed(post, now()), 'User-Agent': 'mcp-task-server' };
  const path = pathOf(post.url, url);
  return new Promise((end) => {
    let phase: 'connecting' | 'securing' | 'open' = 'connecting';
    const failed = () => {
      if (signal.aborted) end({ error: 'timeout' });
      else end({ error: phase === 'securing' ? 'tls_error' : 'connection_refused' });
    };
    const isSecure = url.protocol === 'https:';
    // Without a shared agent, neither a connection of another receiver nor a proxy is used.
    const request = (isSecure ? https : http).request(url, {
      method: 'POST',
      path,
      headers,
      lookup,
      signal,
      agent: false,
    });
    request.on('error', failed);
    request.on('socket', (socket) => {
      socket.once('connect', () => (phase = isSecure ? 'securing' : 'open'));
      socket.once('secureConnect', () => (phase = 'open'));
    });
    // An answer to a question that no request asks. Without this, the request would end without an event.
    request.on('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      end({ status: statusCode, body: '' });
    });
    request.on('response', async (response) => {
      const status = response.statusCode ?? 0;
      const body = await beginning(response, answerBytes);
      request.destroy();
      end({ status, body });
    });
    request.end(post.body);
  });
}

/** The headers of a request. Its time is the time of this attempt: receivers refuse one that is 5 minutes off. */
function signed({ secrets, webhookId, subscriptionId, body }: SignedPost, now: number): http.OutgoingHttpHeaders {
  const time = new Date(now);
  const signatures = secrets.map((secret) => new Webhook(keyOf(secret), { format: 'raw' }).sign(webhookId, time, body));
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'webhook-id': webhookId,
    'webhook-timestamp': Math.floor(now / 1_000),
    'webhook-signature': signatures.join(' '),
    'X-MCP-Subscription-Id': subscriptionId,
  };
}

/** The library takes padded base64 only. */
const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');

/** Reads at most `most` bytes of an answer. What comes late or breaks off counts as its end: the status is known. */
async function beginning(response: http.IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (most > 0) {
      for await (const chunk of response) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= most) break;
      }
    }
  } catch {}
  return Buffer.concat(chunks).subarray(0, most).toString();
}

/** Why this answer is not a success; undefined for a 2xx. A redirect is a wrong answer of the receiver. */
export function errorOf(answer: Answer): DeliveryError | undefined {
  if ('error' in answer) return answer.error;
  if (answer.status >= 200 && answer.status < 300) return undefined;
  return answer.status >= 500 ? 'http_5xx' : 'http_4xx';
}
