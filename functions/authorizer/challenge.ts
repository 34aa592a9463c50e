/** Where the endpoint sends a caller who must be challenged: below its own path. See `authorize`. */
export const CHALLENGE = 'challenge';

/** What tells a client how to get a token, or a better one: the value of `WWW-Authenticate` (G-06, G-08, G-09). */
export function challenge(metadata: string, scopes: readonly string[], error?: 'insufficient_scope'): string {
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    `resource_metadata="${metadata}"`,
  ];
  return `Bearer ${parts.join(', ')}`;
}
