import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { synthApp } from '../../../local/testing.ts';
import { startIssuer } from '../../support/oidc.ts';

export interface UnitsSetup {
  readonly cloud: Cloud;
  /** An access token of this user. */
  token(sub: string): string;
  stop(): Promise<void>;
}

/** An embedded cloud of ./app.ts that keeps all its calls. */
export async function startUnits(openTasks: number): Promise<UnitsSetup> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-units-'));
  const issuer = await startIssuer();
  const env = { UNITS_ISSUER: issuer.url, UNITS_OPEN_TASKS: String(openTasks) };
  try {
    Object.assign(process.env, env);
    await synthApp('test/bench/units/app.ts', assembly);
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
  const cloud = await startCloud({ assembly, recordCalls: true, schedules: false, onLog: () => {} });
  return {
    cloud,
    token: (sub) => issuer.token({ sub, scope: 'mcp' }),
    async stop() {
      await cloud.stop();
      await issuer.stop();
      rmSync(assembly, { recursive: true, force: true });
    },
  };
}
