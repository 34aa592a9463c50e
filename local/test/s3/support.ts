import { S3Client } from '@aws-sdk/client-s3';
import { HttpRequest } from '@smithy/core/protocols';
import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Cloud } from '../../cloud.ts';
import { clientConfig, writeAssembly } from '../fixture.ts';

export const DAY = 86_400_000;
/** The least that S3 takes as a part, but the last one. */
export const PART = Buffer.alloc(5 * 1024 ** 2, 'part');

/** A bucket that aborts uploads under `files/` after a day. */
export const filesAssembly = (more: Record<string, unknown> = {}, assets = {}) =>
  writeAssembly({
    assets,
    resources: {
      Files: {
        Type: 'AWS::S3::Bucket',
        Properties: {
          LifecycleConfiguration: {
            Rules: [
              { Status: 'Enabled', Prefix: 'files/', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
              { Status: 'Disabled', Prefix: 'kept/', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
            ],
          },
        },
      },
      ...more,
    },
  });
export const Bucket = 'test-files';

export const s3Client = (cloud: Reached, caller?: string) =>
  new S3Client({ ...clientConfig(cloud, caller), forcePathStyle: true });

/** Sends a request that is signed in its headers. */
export function send(cloud: Cloud, method: string, path: string, headers: Record<string, string> = {}, body?: Buffer) {
  const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, Signature=x';
  const all = { authorization, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers };
  return fetch(`${cloud.endpoint}${path}`, { method, headers: all, ...(body && { body: new Uint8Array(body) }) });
}

export interface Presign {
  readonly method?: string;
  readonly query?: Record<string, string>;
  /** Signed, and to be sent. */
  readonly headers?: Record<string, string>;
  readonly at: number;
  readonly expiresIn?: number;
  readonly caller?: string;
  readonly region?: string;
}

/** What a client needs to know of a cloud. */
export type Reached = Pick<Cloud, 'endpoint' | 'region'>;

/** A presigned URL, as `@aws-sdk/s3-request-presigner` makes it. */
export async function presign({ endpoint }: Reached, path: string, options: Presign): Promise<string> {
  const {
    method = 'GET',
    query = {},
    headers = {},
    at,
    expiresIn = 300,
    caller = 'test',
    region = 'us-east-1',
  } = options;
  const { host, hostname, port } = new URL(endpoint);
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId: caller, secretAccessKey: 'local' },
    sha256: Hash.bind(null, 'sha256'),
    uriEscapePath: false,
  });
  const all = { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers };
  const request = new HttpRequest({
    protocol: 'http:',
    hostname,
    port: Number(port),
    method,
    path,
    query,
    headers: all,
  });
  const signed = await signer.presign(request, {
    signingDate: new Date(at),
    expiresIn,
    unsignableHeaders: new Set(['content-type']),
  });
  const parameters = Object.entries(signed.query ?? {}).map(([name, value]) => [name, String(value)]);
  const text = parameters.map((pair) => pair.map((one) => encodeURIComponent(one ?? '')).join('=')).join('&');
  return `${endpoint}${path}?${text}`;
}

/** The code and the message of an error. */
export async function refusal(
  answer: Response,
): Promise<[status: number, code: string | undefined, message: string | undefined]> {
  const text = await answer.text();
  const [, code, message] = /<Code>(.*?)<\/Code><Message>(.*?)<\/Message>/.exec(text) ?? [];
  return [answer.status, code, message];
}

/** The code of an error. */
export const codeOf = async (answer: Response) => (await refusal(answer)).slice(0, 2);
