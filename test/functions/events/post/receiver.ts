import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answers = (received: Received) => { readonly status: number; readonly headers?: object; readonly body?: string };

/** A receiver on this machine, which keeps what it gets. */
export async function startReceiver(answer: Answers = () => ({ status: 204 })) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    const { status, headers = {}, body = '' } = answer(one);
    response.writeHead(status, { ...headers }).end(body);
  });
  return { received, url: `http://127.0.0.1:${await listening(server)}` };
}

/** Listens on a free port of this machine until the test has ended. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
