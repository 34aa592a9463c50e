/** Where the endpoint sends a caller who must be challenged: below its own path. See `authorize`. */
export const CHALLENGE = 'challenge';

/** None without a token (RFC 6750, 3.1). */
export type ChallengeError = 'invalid_token' | 'insufficient_scope';

/** What tells a client how to get a token, or a better one: the value of `WWW-Authenticate` (G-06, G-08, G-09). */
export function challenge(metadata: string, scopes: readonly string[], error?: ChallengeError): string {
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    `resource_metadata="${metadata}"`,
  ];
  return `Bearer ${parts.join(', ')}`;
}
