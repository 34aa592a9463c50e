import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Whether the Host header names this machine by a loopback name. A web page can point its own domain at 127.0.0.1 (DNS
 * rebinding) and make the browser call this server, but it cannot choose the Host header.
 */
export function isForLoopback(request: IncomingMessage): boolean {
  const host = request.headers.host?.toLowerCase().replace(/:\d+$/, '');
  return host !== undefined && LOOPBACK.has(host);
}

/** The target of a request as sent; `new URL` would remove the host from `//host/path`. */
export function targetOf(request: IncomingMessage): { path: string; query: string } {
  const [, path = '/', query = ''] = /^([^?]*)\??(.*)$/.exec(request.url ?? '/') ?? [];
  return { path, query };
}

/** The service for which a request is signed: `Credential=<key>/<date>/<region>/<service>/aws4_request`. */
export function signedService({ headers }: IncomingMessage): string | undefined {
  return /Credential=[^,\s]*\/([\w-]+)\/aws4_request/.exec(headers.authorization ?? '')?.[1];
}

/** Whether the client disconnected before its request was complete. */
export function isAbandoned(request: IncomingMessage): boolean {
  return request.destroyed && !request.complete;
}

/** Listens on 127.0.0.1, never on another interface; port 0 picks a free one. */
export async function listen(server: Server, port: number): Promise<string> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Rejects if the port is in use. */
export async function checkPort(port: number): Promise<void> {
  const probe = createServer();
  await listen(probe, port);
  await close(probe);
}

/** Stops listening and closes the open connections. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Reads a body; undefined if it is too long: the rest is read and dropped, so that the client gets an answer. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      chunks.length = 0;
      resolve(undefined);
    });
    request.on('end', () => resolve(length <= limit ? Buffer.concat(chunks) : undefined));
    request.on('error', reject);
  });
}
