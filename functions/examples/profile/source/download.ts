import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import { ToolError } from 'mcp-task-server/tool';
import type { Report } from '../report.ts';
import { type Address, publicAddresses, type Resolve } from './public-address.ts';

export const MAX_BYTES = 50_000_000;
const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 60_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export type Open = (url: URL, addresses: readonly Address[], signal: AbortSignal) => Promise<IncomingMessage>;

/** What a download needs from outside. Tests hand in their own. */
export interface Net {
  readonly signal?: AbortSignal;
  readonly resolve?: Resolve;
  readonly open?: Open;
}

/** The bytes behind a public https URL, following a few redirects, each checked like the first address. */
export async function download(address: string, report: Report, net: Net = {}): Promise<Buffer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = net.signal ? AbortSignal.any([timeout, net.signal]) : timeout;
  try {
    const response = await follow(address, signal, net);
    return await body(response, report);
  } catch (error) {
    net.signal?.throwIfAborted();
    if (!isNetworkError(error)) throw error;
    const reason = signal.aborted ? `it took longer than ${TIMEOUT_MS / 1000} seconds` : error.message;
    throw new ToolError(`The download failed: ${reason}. Check the URL, or try again later.`);
  }
}

async function follow(
  address: string,
  signal: AbortSignal,
  { resolve, open = openHttps }: Net,
): Promise<IncomingMessage> {
  let url = parseUrl(address);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await open(url, await publicAddresses(url, resolve), signal);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return response;
    response.destroy();
    if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
      throw new ToolError(`${url.host} answered with status ${statusCode}. Check that anyone may read this URL.`);
    }
    url = parseUrl(headers.location, url);
  }
  throw new ToolError(`The URL redirects more than ${MAX_REDIRECTS} times. Use the address of the file itself.`);
}

function parseUrl(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (url === null) throw new ToolError('`url` is not a URL. Send something like https://example.com/data.csv.');
  if (url.protocol !== 'https:') throw new ToolError(`Only https URLs are read, not ${url.protocol}//.`);
  // Arguments are stored with the task.
  if (url.username !== '' || url.password !== '') throw new ToolError('`url` must not carry a user name or password.');
  return url;
}

async function body(response: IncomingMessage, report: Report): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    refuseTooLarge(announced);
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      refuseTooLarge(size);
      const of = announced > 0 ? ` of ${megabytes(announced)}` : '';
      await report(`Downloaded ${megabytes(size)}${of} MB`, size / (announced > 0 ? announced : MAX_BYTES));
    }
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks, size);
}

function refuseTooLarge(size: number): void {
  if (size <= MAX_BYTES) return;
  throw new ToolError(`The file is larger than ${megabytes(MAX_BYTES)} MB. Send a sample of its rows.`);
}

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

/** Connects to the addresses that were checked; the name only serves TLS and the Host header. */
export const openHttps: Open = (url, addresses, signal) =>
  new Promise((resolve, reject) => {
    const checked: LookupFunction = (_host, options, done) => {
      const [first] = addresses;
      if (options.all) done(null, [...addresses]);
      else done(null, first?.address ?? '', first?.family ?? 0);
    };
    const headers = { accept: 'text/csv, */*', 'accept-encoding': 'identity', 'user-agent': 'mcp-task-server' };
    request(url, { lookup: checked, headers, signal, agent: false }, resolve).on('error', reject).end();
  });

function isNetworkError(error: unknown): error is Error {
  return error instanceof Error && ('code' in error || error.name === 'AbortError' || error.name === 'TimeoutError');
}
