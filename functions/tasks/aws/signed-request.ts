import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { HttpRequest } from '@smithy/core/protocols';
import { Hash } from '@smithy/core/serde';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { connections } from './connections.ts';

export interface SignedRequest {
  readonly method: string;
  /** Encoded once. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SignedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The only hash that needs no second one in JavaScript beside it in the bundle. */
const sha256 = Hash.bind(null, 'sha256');
/** In ms. AWS refuses a signature that is 5 minutes old or new; its clients correct their clock from 4 minutes on. */
const MAX_SKEW = 240_000;

/**
 * Requests to an AWS service on parts of the AWS SDK: its clients would add more to a cold start than all code of the
 * endpoint. By default credentials are Lambda's, from the environment.
 * `requestTimeout` in ms. One attempt, or a second one when AWS refuses the first by its date; rejects when there is no answer.
 */
export function signedRequests(
  service: string,
  origin: URL,
  region: string,
  requestTimeout: number,
  credentials: () => Promise<AwsCredentials> = ofEnvironment,
) {
  const http = new NodeHttpHandler({ ...connections, requestTimeout });
  // Only S3 signs the path as sent.
  const signer = new SignatureV4({ service, region, credentials, sha256, uriEscapePath: service !== 's3' });
  /** What AWS's clock is ahead of ours, in ms. */
  let skew = 0;
  const send = async ({ method, path, headers, body }: SignedRequest, abortSignal: AbortSignal) => {
    const request = {
      method,
      protocol: origin.protocol,
      hostname: origin.hostname,
      ...(origin.port !== '' && { port: Number(origin.port) }),
      path,
      headers: {
        host: origin.host,
        ...trace(),
        ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
        ...headers,
      },
      ...(body && { body }),
    };
    const signed = await signer.sign(request, { signingDate: new Date(Date.now() + skew) });
    const { response } = await http.handle(signed as HttpRequest, { abortSignal });
    return { status: response.statusCode, headers: response.headers, body: await buffer(response.body as Readable) };
  };
  return async (request: SignedRequest, abortSignal: AbortSignal): Promise<SignedAnswer> => {
    const answer = await send(request, abortSignal);
    // A cache answers with an older date.
    const date = answer.headers.age === undefined ? answer.headers.date : undefined;
    const off = Date.parse(date ?? '') - Date.now();
    // Refused because of our clock, so nothing was done. The AWS clients correct their clock in the same way.
    if (answer.status < 400 || answer.status >= 500 || !(Math.abs(off - skew) >= MAX_SKEW)) return answer;
    skew = off;
    return send(request, abortSignal);
  };
}

async function ofEnvironment(): Promise<AwsCredentials> {
  const { env } = process;
  return {
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '',
    ...(env.AWS_SESSION_TOKEN !== undefined && { sessionToken: env.AWS_SESSION_TOKEN }),
  };
}

/** As the AWS clients do in Lambda: X-Ray then shows what is called as a part of the request. */
function trace(): Readonly<Record<string, string>> {
  const { AWS_LAMBDA_FUNCTION_NAME, _X_AMZN_TRACE_ID } = process.env;
  if (AWS_LAMBDA_FUNCTION_NAME === undefined || _X_AMZN_TRACE_ID === undefined) return {};
  return { 'x-amzn-trace-id': _X_AMZN_TRACE_ID };
}
