/**
 * Whether a token's scopes are enough. A scope covers itself and all below it, by colons: `tasks` covers `tasks:write`,
 * not the other way round (G-10).
 */
export function sufficient(needed: readonly string[], granted: readonly string[]): boolean {
  return needed.every((scope) => granted.some((has) => scope === has || scope.startsWith(`${has}:`)));
}
