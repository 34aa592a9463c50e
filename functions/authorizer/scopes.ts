/**
 * Whether a token's scopes are enough. A scope covers itself and all scopes below it, by colons: `tasks` covers
 * `tasks:write`, but not the reverse (G-10). The colon of a URL does not count: `api` does not cover `api://app/deploy`.
 */
export function sufficient(needed: readonly string[], granted: readonly string[]): boolean {
  return needed.every((scope) => granted.some((has) => scope === has || isBelow(scope, has)));
}

/** An empty scope, which a token without scopes has, covers nothing, not even `:a`. */
const isBelow = (scope: string, has: string): boolean =>
  has !== '' && scope.startsWith(`${has}:`) && !scope.startsWith(`${has}://`);
