import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished, vi } from 'vitest';

/** Status, body and headers. `cut` closes the connection, `half` in the middle of a body; `stall` stops there, `silence` never answers. */
export type FakeAnswer =
  | [status: number, body?: object | string, headers?: Record<string, string>]
  | 'cut'
  | 'half'
  | 'stall'
  | 'silence';

/** An AWS service that speaks awsJson. It gives these answers in turn, and the last one again and again. */
export async function fakeService(...answers: FakeAnswer[]) {
  const asked: { line: string; headers: IncomingHttpHeaders; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? 'cut';
    const line = `${request.method} ${request.url}`;
    asked.push({ line, headers: request.headers, body: JSON.parse(await text(request)) });
    if (answer === 'cut') return request.socket.destroy();
    if (answer === 'half') {
      return response.writeHead(200, { 'content-length': 1_000 }).write('{"Item":', () => request.socket.destroy());
    }
    if (answer === 'stall') return response.writeHead(200, { 'content-length': 1_000 }).write('{"Item":');
    if (answer === 'silence') return undefined;
    const [status, body, headers] = answer;
    response.writeHead(status, headers);
    return response.end(typeof body === 'object' ? JSON.stringify(body) : body);
  });
  return { asked, endpoint: await served(server) };
}

/** The URL of a server that listens, with credentials in the environment, until the test has ended. */
export async function served(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
