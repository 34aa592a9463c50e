import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OperatorContext } from '../../functions/operator/context.ts';
import { NotAllowed, OperatorError } from '../../functions/operator/errors.ts';
import { BACKFILLING } from '../../functions/tasks/aws/client.ts';
import { isObject, parsed } from '../../functions/tasks/shape.ts';
import { messageOf, UsageError } from '../tasks/usage-error.ts';
import { isGone, keptConnection } from './connection.ts';
import { pageFile } from './files.ts';
import { dataRefusal, isToken, newToken, refusal, SECURITY_HEADERS } from './guard.ts';
import { ACTS, type ActRequest, type ConsoleFacts, READS } from './routes.ts';

export interface ConsoleOptions extends ConsoleFacts {
  readonly connect: () => Promise<OperatorContext>;
  /** The port. @default a free one */
  readonly port?: number;
}

export interface Console {
  /** The URL with the token, which gives the rights of the console's credentials. */
  readonly url: string;
  stop(): Promise<void>;
}

/** How long a connection is kept, in milliseconds: `dev` deploys at every save. */
const KEPT = { local: 5_000, deployed: 300_000 } as const;
/** The most bytes of a request: answers may take 240 KB together. */
const MOST = 300_000;

/** Serves the page, on 127.0.0.1 only. Rejects if the port is in use. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const token = newToken();
  const connection = keptConnection(options.connect, options.local ? KEPT.local : KEPT.deployed);
  const server = createServer((request, response) => {
    answer(request, { ...options, token, connection, port: portOf(server) })
      .catch((error: unknown) => failed(error, connection))
      .then(
        (sent) => send(response, sent),
        () => response.destroy(),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server)}/${token}/`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

interface Serving extends ConsoleOptions {
  readonly token: string;
  readonly port: number;
  readonly connection: ReturnType<typeof keptConnection>;
}

interface Sent {
  readonly status: number;
  readonly type?: string;
  readonly body: string | Buffer;
}

const json = (status: number, value: unknown): Sent => ({ status, body: JSON.stringify(value) });
const refused = (status: number, error: string): Sent => json(status, { error });

async function answer(request: IncomingMessage, serving: Serving): Promise<Sent> {
  const { method = 'GET', url = '/' } = request;
  const wrong = refusal(request, serving.port);
  if (wrong !== undefined) return refused(403, wrong);
  const { pathname, searchParams } = new URL(url, 'http://console');
  const [, token, ...rest] = pathname.split('/');
  // Without the token the server answers 404, even for the page.
  if (!isToken(token, serving.token)) return refused(404, 'Nothing is here. The URL has a token: see the terminal');
  const path = rest.join('/');
  const [, route] = /^api\/([a-z]+)$/.exec(path) ?? [];
  if (route === undefined) return method === 'GET' ? file(path) : refused(405, 'Only GET');
  const wrongData = dataRefusal(request, serving.token);
  if (wrongData !== undefined) return refused(403, wrongData);
  if (method === 'GET' && Object.hasOwn(READS, route)) {
    const read = READS[route as keyof typeof READS];
    return json(200, await read(Object.fromEntries(searchParams), await serving.connection.get(), serving));
  }
  if (method === 'POST' && Object.hasOwn(ACTS, route)) {
    const body = parsed(await textOf(request));
    if (!isObject(body)) return refused(400, `The body has to be a JSON object of at most ${MOST} bytes`);
    const act = ACTS[route as keyof typeof ACTS];
    return json(200, await act(body as unknown as ActRequest, await serving.connection.get(), serving));
  }
  return refused(404, 'There is no such route');
}

function file(path: string): Sent {
  const found = pageFile(path === '' ? 'index.html' : path);
  return found === undefined ? refused(404, 'There is no such file') : { status: 200, ...found };
}

/** Reads the body of a request; empty if it is too long. */
async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MOST) chunks.push(chunk);
  }
  return length <= MOST ? Buffer.concat(chunks).toString() : '';
}

/** Answers an error. Its reader is the operator, so it repeats the message of AWS, as the verbs do. */
function failed(error: unknown, connection: Serving['connection']): Sent {
  if (error instanceof NotAllowed) return refused(403, error.message);
  if (error instanceof OperatorError || error instanceof UsageError) return refused(400, error.message);
  const { name } = error as Error;
  if (/AccessDenied/.test(name)) return refused(403, messageOf(error));
  if (name === BACKFILLING) return refused(503, messageOf(error));
  connection.drop();
  return refused(isGone(error) ? 503 : 500, isGone(error) ? 'The server does not answer' : messageOf(error));
}

function send(response: ServerResponse, { status, type = 'application/json', body }: Sent): void {
  response.writeHead(status, { ...SECURITY_HEADERS, 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
