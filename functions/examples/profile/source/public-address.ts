import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ToolError } from 'mcp-task-server/tool';

export interface Address {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<readonly Address[]>;

/** What IPv6 addresses of the internet begin with: beside it are loopback, link-local, mapped IPv4, NAT64 and more. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** In no range that IANA keeps for a special purpose. 169.254.169.254, for example, gives out credentials. */
export function isPublic(address: string): boolean {
  // The library alone reads short forms too, such as 127.1.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_V6));
}

const resolveByDns: Resolve = (host) => lookup(host, { all: true });

/**
 * The addresses of a host, refused if any of them is not public: a URL in a tool call must not make this function
 * reach what only it can reach. Connect to these addresses and do not look the name up again, it may answer otherwise.
 */
export async function publicAddresses(url: URL, resolve: Resolve = resolveByDns): Promise<readonly Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolved(host, resolve) : [{ address: host, family }];
  if (addresses.every(({ address }) => isPublic(address))) return addresses;
  throw new ToolError(
    `${host} is not on the public internet (private, loopback or reserved address). Use a public URL.`,
  );
}

async function resolved(host: string, resolve: Resolve): Promise<readonly Address[]> {
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0) throw new ToolError(`The host ${host} was not found. Check the URL.`);
  return addresses;
}
