import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { ToolError } from 'mcp-task-server/tool';

export interface Address {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<readonly Address[]>;

/** IPv4 ranges that are not the public internet (IANA special-purpose registry), among them 169.254 (credentials). */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** IPv6 is public only inside 2000::/3 (so no loopback, link-local, mapped IPv4 or NAT64), without these parts of it. */
const GLOBAL_V6 = ['2000::', 3] as const;
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const privateV4 = blockList('ipv4', PRIVATE_V4);
const privateV6 = blockList('ipv6', PRIVATE_V6);
const globalV6 = blockList('ipv6', [GLOBAL_V6]);

function blockList(family: 'ipv4' | 'ipv6', subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, family);
  return list;
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !privateV4.check(address, 'ipv4');
  return family === 6 && globalV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6');
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
