import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

/** No more is known of a URL that must not be called: a subscriber must not map networks by the reasons. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether the internet reaches this address, by the registries of special addresses of IANA. */
export function isGlobal(address: string): boolean {
  const parsed = ipaddr.parse(address);
  // IPv6 hands out addresses of 2000::/3 only. Outside lie also old ways to write an IPv4 address, such as ::127.0.0.1.
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6));
}

const isLoopback = (address: string): boolean => ipaddr.parse(address).range() === 'loopback';

/**
 * The addresses to connect to. Throws `AddressRefused` if one of them is not public.
 *
 * @param hostname of a URL: a name, an IPv4 address, or an IPv6 address in brackets
 * @param loopback whether addresses of this machine are allowed, too
 */
export async function allowedAddresses(
  hostname: string,
  { loopback, resolve = resolveName }: { readonly loopback: boolean; readonly resolve?: Resolve | undefined },
): Promise<readonly Address[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const isAllowed = ({ address }: Address) => isGlobal(address) || (loopback && isLoopback(address));
  if (addresses.length === 0 || !addresses.every(isAllowed)) throw new AddressRefused();
  return addresses;
}

const resolveName: Resolve = (hostname) => lookup(hostname, { all: true });
