/**
 * The URL to which events are posted. Undefined if it is not an absolute `https` URL without user info.
 *
 * @param options.loopback whether `http` is allowed, too: `allowedAddresses` then keeps it on this machine
 */
export function callbackUrl(text: string, { loopback }: { readonly loopback: boolean }): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return undefined;
  return url.protocol === 'https:' || (loopback && url.protocol === 'http:') ? url : undefined;
}

/**
 * Path and query of a URL as its owner wrote them: a receiver may find its record by them. `URL` changes dots and some
 * characters; its form counts only where a request cannot carry the text.
 */
export function pathOf(text: string, { origin, pathname, search }: URL): string {
  const [, written = ''] = /^[a-z]+:\/\/[^/?#]*(\/[\x21-\x7e]*)/i.exec(text.split('#')[0] ?? '') ?? [];
  const same = URL.parse(origin + written);
  return written !== '' && same?.pathname === pathname && same.search === search ? written : pathname + search;
}
