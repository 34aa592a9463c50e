import { type AwsCredentials, signedRequests } from '../../functions/tasks/aws/signed-request.ts';

export interface QueryOptions {
  /** As in signatures and in the names of hosts. */
  readonly service: string;
  /** The version of its API. */
  readonly version: string;
  /** @default the public one of the region */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly credentials: () => Promise<AwsCredentials>;
}

/** Calls one operation of a service that answers in XML. Rejects with an error that has the name AWS gave it. */
export type AwsQuery = (operation: string, input: Readonly<Record<string, string>>) => Promise<string>;

/** In ms. */
const TIMEOUT = 10_000;

/** CloudFormation and STS, by three operations: their clients would add some 2 MB to an installation. */
export function awsQuery({ service, version, endpoint, region, credentials }: QueryOptions): AwsQuery {
  const origin = new URL(endpoint ?? `https://${service}.${region}.amazonaws.com`);
  const request = signedRequests(service, origin, region, TIMEOUT, credentials);
  return async (operation, input) => {
    const body = Buffer.from(new URLSearchParams({ Action: operation, Version: version, ...input }).toString());
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await request({ method: 'POST', path: '/', headers, body }, AbortSignal.timeout(TIMEOUT));
    const text = answer.body.toString();
    if (answer.status === 200) return text;
    const name = element(text, 'Code') ?? 'AwsError';
    throw Object.assign(new Error(`${service} refused ${operation}: ${element(text, 'Message') ?? name}`), { name });
  };
}

/** The text of the first element with this name. */
export function element(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text === undefined ? undefined : plain(text);
}

/** The content of each `<member>`. */
export const members = (xml: string): string[] =>
  [...xml.matchAll(/<member>(.*?)<\/member>/gs)].map(([, text = '']) => text);

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const plain = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return ENTITIES[name ?? ''] ?? whole;
  });
