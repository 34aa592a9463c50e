/** Replaces `@aws-sdk/credential-provider-node` in bundles, where no client calls it: each gets its credentials. */
export function defaultProvider(): never {
  throw new Error('An AWS client was made without credentials');
}
