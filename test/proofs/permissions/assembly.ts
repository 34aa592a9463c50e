import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthApp } from '../../../local/testing.ts';
import { startIssuer, type TestIssuer } from '../../support/oidc.ts';

/** A cloud assembly of ./app.ts, with the issuer of its callers' tokens. */
export interface Assembly {
  readonly path: string;
  readonly issuer: TestIssuer;
}

export async function makeAssembly(): Promise<Assembly & { readonly remove: () => Promise<void> }> {
  const path = mkdtempSync(join(tmpdir(), 'mcp-permissions-'));
  const issuer = await startIssuer();
  const remove = async () => {
    await issuer.stop();
    rmSync(path, { recursive: true, force: true });
  };
  try {
    process.env.MCP_TEST_ISSUER = issuer.url;
    await synthApp('test/proofs/permissions/app.ts', path);
    return { path, issuer, remove };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    delete process.env.MCP_TEST_ISSUER;
  }
}
