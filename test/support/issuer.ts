import { afterAll, beforeAll } from 'vitest';
import { startIssuer, type TestIssuer } from './oidc.ts';

/** The issuer of a test file that calls `useIssuer`, for all its tests. */
export let issuer: TestIssuer;

export function useIssuer(): void {
  beforeAll(async () => {
    issuer = await startIssuer();
  });
  afterAll(() => issuer?.stop());
}
