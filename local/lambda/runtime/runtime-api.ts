import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { close, isForLoopback, listen } from '../../loopback.ts';
import { type ErrorBody, ended, type FromWorker, type InvokeMessage } from '../protocol.ts';

export type RuntimeApi = Awaited<ReturnType<typeof openRuntimeApi>>;

const PREFIX = '/2018-06-01/runtime';

/**
 * Opens the Lambda runtime API for one process, which takes one event at a time and reports its end.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function openRuntimeApi(post: (message: FromWorker) => void) {
  // Web pages and other users of this machine can reach the port. Only the process of the function knows this path.
  const secret = `/${randomBytes(16).toString('hex')}`;
  const prefix = `${secret}${PREFIX}`;
  const waiting: InvokeMessage[] = [];
  let asking: ServerResponse | undefined;
  let started = false;

  const give = () => {
    if (asking === undefined) return;
    const event = waiting.shift();
    if (event === undefined) return;
    asking.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': event.id,
      'lambda-runtime-deadline-ms': String(event.deadline),
      'lambda-runtime-invoked-function-arn': event.functionArn,
    });
    asking.end(event.payload);
    asking = undefined;
  };
  const accepted = (response: ServerResponse) => response.writeHead(202).end('{"status":"OK"}');

  const server = createServer(async (request: IncomingMessage, response) => {
    const { method, url = '' } = request;
    if (!url.startsWith(prefix) || !isForLoopback(request)) return void response.writeHead(403).end();
    const [, id = '', what] = /^\/invocation\/([\w-]+)\/(response|error)$/.exec(url.slice(prefix.length)) ?? [];
    if (method === 'GET' && url === `${prefix}/invocation/next`) {
      asking = response;
      response.once('close', () => {
        if (asking === response) asking = undefined;
      });
      if (!started) post({ type: 'ready' });
      started = true;
      return give();
    }
    const body = await text(request);
    if (url === `${prefix}/init/error`) {
      accepted(response);
      return post({ type: 'fatal', error: errorBody(body) });
    }
    if (what === undefined) return void response.writeHead(404).end();
    accepted(response);
    post(what === 'error' ? { type: 'failed', id, error: errorBody(body) } : ended(id, body));
  });
  const url = await listen(server, 0);
  return {
    /** The value of AWS_LAMBDA_RUNTIME_API: host, port and a path that only this process knows. */
    host: `${new URL(url).host}${secret}`,
    invoke(event: InvokeMessage): void {
      waiting.push(event);
      give();
    },
    close: () => close(server),
  };
}

/** `{ errorType, errorMessage, stackTrace }` */
function errorBody(body: string): ErrorBody {
  try {
    const { errorType, errorMessage, stackTrace } = JSON.parse(body);
    return {
      errorType: String(errorType ?? 'Runtime.Unknown'),
      errorMessage: String(errorMessage ?? ''),
      trace: Array.isArray(stackTrace) ? stackTrace.map(String) : [],
    };
  } catch {
    return { errorType: 'Runtime.Unknown', errorMessage: body.slice(0, 1_000), trace: [] };
  }
}
