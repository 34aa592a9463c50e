import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Manifest } from '../../../functions/mcp/manifest.ts';

// biome-ignore lint/suspicious/noExplicitAny: a handler of any of the functions.
export type Handler = (...given: any[]) => Promise<any>;

/** A server with one tool, `t`, that may run as a task. */
export const manifest: Manifest = {
  ...{ serverInfo: { name: 's', version: '1' }, auth: 'anonymous', allowedOrigins: [] },
  ...{ maxTtl: 86_400_000, inlineWindow: 1_000, holdCap: 1_000, maxOpenTasks: 10, maxStreams: 10 },
  ...{ helperTools: true, questionStream: true },
  tools: [
    {
      ...{ name: 't', description: 'd', inputSchema: { type: 'object' }, timeout: 60_000, engine: 'standard' },
      taskSupport: 'optional',
    },
  ],
};

/** The environment of the endpoint, without the address of AWS. */
export const environment = {
  ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
  ...{ TASKS_TABLE: 't', RESULTS_BUCKET: 'b', SIGNING_KEY_SECRET: 's' },
  MACHINE_ARN_PREFIX: 'arn:aws:states:us-east-1:123456789012:stateMachine:s-',
} as const;

/** The answer of the endpoint to an HTTP request in the form of API Gateway. */
export async function posted(handler: Handler, body: string, sent: Readonly<Record<string, unknown>>) {
  let headers: Record<string, string> = {};
  const awslambda = {
    HttpResponseStream: {
      from(stream: PassThrough, head: { headers: typeof headers }) {
        headers = head.headers;
        return stream;
      },
    },
  };
  Object.assign(globalThis, { awslambda: { ...streaming, ...awslambda } });
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...sent };
  const multiValueHeaders = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]]));
  const event = { httpMethod: 'POST', multiValueHeaders, requestContext: {}, isBase64Encoded: false };
  const stream = new PassThrough();
  const answer = text(stream);
  await handler({ ...event, body }, stream, inMs);
  return { headers, text: await answer };
}

/** The stream that Lambda gives a function. */
export const streaming = { streamifyResponse: (handler: unknown) => handler };

const inMs = { getRemainingTimeInMillis: () => 30_000 };
