import { randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { close, isForLoopback, listen, readBody, signedService, targetOf } from '../loopback.ts';

/** The largest request that is passed on, in bytes. */
const MAX_BODY = 20_000_000;
/** Headers that are not passed on: they belong to one connection, or to the signature, which is made again. */
const DROPPED =
  /^(host|connection|keep-alive|transfer-encoding|content-length|expect|authorization|x-amz-security-token|x-amz-date)$/;

/** The region and credentials that the developer's AWS command line would use. */
export interface AwsIdentity {
  readonly region: string;
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'];
}

/** Reads region and credentials as every AWS client does. Rejects if there are none. */
export async function ownIdentity(): Promise<AwsIdentity> {
  const { config } = new DynamoDBClient({});
  await config.credentials();
  return { region: await config.region(), credentials: config.credentials };
}

/**
 * Passes the requests of tools on to an AWS service, signed with the developer's own credentials. Tools keep their
 * credentials of the embedded cloud, by which its table and bucket know them. Only this process has the developer's.
 *
 * @param target the origin of the service
 * @returns `url`: the value of the variable `AWS_ENDPOINT_URL_<SERVICE>` of the tools
 */
export async function forwardToAws(target: URL, { region, credentials }: AwsIdentity) {
  // Web pages and other users of this machine can reach the port. Only the tools know this path.
  const secret = `/${randomBytes(16).toString('hex')}`;

  async function forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { path: asked, query } = targetOf(incoming);
    const service = signedService(incoming);
    if (!isForLoopback(incoming) || !asked.startsWith(`${secret}/`) || service === undefined) {
      return void answer.writeHead(403).end();
    }
    const body = await readBody(incoming, MAX_BODY);
    if (body === undefined) return void answer.writeHead(413).end();
    const path = asked.slice(secret.length);
    const signer = new SignatureV4({ service, region, credentials, sha256: Sha256 });
    const kept = Object.entries(incoming.headers).filter(([name]) => !DROPPED.test(name));
    const signed = await signer.sign({
      method: incoming.method ?? 'POST',
      protocol: target.protocol,
      hostname: target.hostname,
      path,
      query: queryOf(query),
      headers: { ...Object.fromEntries(kept.map(([name, value]) => [name, String(value)])), host: target.host },
      body,
    });
    const { protocol, hostname, port } = target;
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = send({
      // Separate from the path: in one URL, a path that begins with `//` could name another host.
      protocol,
      hostname,
      port,
      path: `${path}${query === '' ? '' : `?${query}`}`,
      method: signed.method,
      headers: { ...signed.headers, 'content-length': body.length },
    });
    outgoing.once('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    outgoing.once('error', (error) => fail(answer, error));
    answer.once('close', () => outgoing.destroy());
    outgoing.end(body);
  }

  const server = createServer((incoming, answer) => {
    forward(incoming, answer).catch((error: unknown) => fail(answer, error));
  });
  const url = await listen(server, 0);
  return { url: `${url}${secret}`, stop: () => close(server) };
}

/** Answers 502. The client retries, and then throws this text. */
function fail(answer: ServerResponse, error: unknown): void {
  if (answer.headersSent) return void answer.destroy();
  answer.writeHead(502, { 'content-type': 'application/json', 'x-amzn-errortype': 'ForwardingFailed' });
  answer.end(JSON.stringify({ message: `mcp-task-server dev could not reach AWS: ${error}` }));
}

function queryOf(query: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    found[name] = [...(found[name] ?? []), value];
  }
  return found;
}
