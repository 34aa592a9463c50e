import { afterAll, beforeAll } from 'vitest';
import { startIssuer, type TestIssuer } from './oidc.ts';

/** The issuer of a test file, there for all its tests. */
export let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer?.stop());
