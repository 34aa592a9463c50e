import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isObject, listOf, objectOf } from '../json.ts';
import { close, isForLoopback, listen, readBody, targetOf } from '../loopback.ts';
import type { InvokeResult, Lambda } from './types.ts';

/** "Invocation payload (request and response): 6 MB each" (Lambda quotas). */
const MOST_BYTES = 6 * 1024 * 1024;

/** The URL of a function. */
export interface FunctionUrl {
  /** As the template names it: `https://….lambda-url.<region>.on.aws/`. */
  readonly url: string;
  /** A name or an ARN. */
  readonly functionName: string;
}

interface Serving {
  readonly lambda: Pick<Lambda, 'invoke'>;
  readonly now: () => number;
  readonly onError: (message: string) => void;
}

export type FunctionUrls = Awaited<ReturnType<typeof openFunctionUrls>>;

/** Listens at a port for each function URL, as each is a host on AWS. Requests wait until `serve`. */
export async function openFunctionUrls(urls: readonly FunctionUrl[]) {
  const served = await Promise.all(
    urls.map(async ({ url, functionName }) => {
      const server = createServer();
      return { url, functionName, server, local: `${await listen(server, 0)}/` };
    }),
  );
  return {
    /** Puts the local URLs in place of the URLs of the template. */
    localize: (text: string): string => served.reduce((done, { url, local }) => done.replaceAll(url, local), text),
    serve(serving: Serving): void {
      for (const { server, functionName } of served) {
        server.on('request', (request, response) => {
          answer(request, functionName, serving)
            .catch((error: unknown) => {
              serving.onError(`function URL of ${functionName}: ${error instanceof Error ? error.stack : error}`);
              return { statusCode: 500, headers: {}, body: 'Internal Server Error' };
            })
            .then((answered) => send(response, answered));
        });
      }
    },
    stop: async (): Promise<void> => void (await Promise.all(served.map(({ server }) => close(server)))),
  };
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Buffer;
}

const refused = (statusCode: number, message: string): Answer => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ Message: message }),
});

async function answer(request: IncomingMessage, functionName: string, { lambda, now }: Serving): Promise<Answer> {
  if (!isForLoopback(request)) return refused(403, 'only for this machine');
  const body = await readBody(request, MOST_BYTES);
  if (body === undefined) return refused(413, 'Request Entity Too Large');
  const result = await lambda.invoke(functionName, JSON.stringify(eventOf(request, body, now())));
  return answerOf(result);
}

/** The event, in the payload format 2.0 (Lambda developer guide, "Invoking Lambda function URLs"). */
function eventOf(request: IncomingMessage, body: Buffer, at: number): object {
  const { path: rawPath, query: rawQueryString } = targetOf(request);
  const { cookie, ...others } = request.headers;
  const headers = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]));
  const parameters = new URLSearchParams(rawQueryString);
  const names = [...new Set(parameters.keys())];
  const text = body.toString();
  const isBase64Encoded = !Buffer.from(text).equals(body);
  const host = headers.host ?? '';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie !== undefined && { cookies: cookie.split(/;\s*/) }),
    headers,
    ...(names.length > 0 && {
      queryStringParameters: Object.fromEntries(names.map((name) => [name, parameters.getAll(name).join(',')])),
    }),
    requestContext: {
      accountId: 'anonymous',
      apiId: host,
      domainName: host,
      domainPrefix: host,
      http: {
        method: request.method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: request.socket.remoteAddress,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: new Date(at).toISOString(),
      timeEpoch: at,
    },
    ...(body.length > 0 && { body: isBase64Encoded ? body.toString('base64') : text }),
    isBase64Encoded,
  };
}

/** A result with a statusCode is the answer; any other is its body, as JSON. */
function answerOf({ payload, functionError }: InvokeResult): Answer {
  if (functionError !== undefined) return { statusCode: 502, headers: {}, body: 'Internal Server Error' };
  const result: unknown = JSON.parse(payload || 'null');
  if (!isObject(result) || result.statusCode === undefined) {
    const body = typeof result === 'string' ? result : payload;
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const { statusCode, headers, body = '', isBase64Encoded, cookies } = result;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    statusCode: Number(statusCode),
    headers: {
      'content-type': 'application/json',
      ...Object.fromEntries(
        Object.entries(objectOf(headers)).map(([name, value]) => [name.toLowerCase(), String(value)]),
      ),
      ...(Array.isArray(cookies) && { 'set-cookie': listOf(cookies).map(String) }),
    },
    body: isBase64Encoded === true ? Buffer.from(text, 'base64') : text,
  };
}

function send(response: ServerResponse, { statusCode, headers, body }: Answer): void {
  response.writeHead(statusCode, headers).end(body);
}
