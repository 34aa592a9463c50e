/** Stands for `@aws-sdk/credential-provider-node` in bundles. No client there asks it: each is given its credentials. */
export function defaultProvider(): never {
  throw new Error('An AWS client was made without credentials');
}
