import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';
import { close, listen, synthApp } from '../../local/testing.ts';

/** A cloud of ./oauth-app.ts, at the URL that its metadata names. @param change changes its assembly before the start */
export async function startOAuthCloud(
  issuer: string,
  options: Partial<CloudOptions> = {},
  change = (_assembly: string): void => {},
): Promise<Cloud> {
  const free = createServer();
  const publicUrl = await listen(free, 0);
  await close(free);
  return synthAndStart(
    { MCP_TEST_ISSUER: issuer, MCP_TEST_URL: publicUrl },
    { port: Number(new URL(publicUrl).port), ...options },
    'test/support/apps/oauth-app.ts',
    change,
  );
}

/** The same app without a publicUrl. */
export const startUnnamedOAuthCloud = (issuer: string) => synthAndStart({ MCP_TEST_ISSUER: issuer }, {});

/** The same app, for callers that sign. */
export const startIamCloud = () => synthAndStart({}, {});

/** A cloud of ./options-app.ts, which has every option. */
export const startOptionsCloud = (issuer: string, options: Partial<CloudOptions> = {}) =>
  synthAndStart({ MCP_TEST_ISSUER: issuer }, options, 'test/support/apps/options-app.ts');

/** The app of the tests of receivers of MCP Events. */
export const startEventsCloud = (issuer: string, options: Partial<CloudOptions>) =>
  synthAndStart({ MCP_TEST_ISSUER: issuer }, options, 'test/cloud/events/unheld-app.ts');

async function synthAndStart(
  env: Record<string, string>,
  options: Partial<CloudOptions>,
  app = 'test/support/apps/oauth-app.ts',
  change = (_assembly: string): void => {},
): Promise<Cloud> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-oauth-'));
  try {
    Object.assign(process.env, env);
    await synthApp(app, assembly);
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
  change(assembly);
  const cloud = await startCloud({ assembly, recordCalls: true, schedules: false, ...options });
  const stop = async () => {
    await cloud.stop();
    rmSync(assembly, { recursive: true, force: true });
  };
  return { ...cloud, stop };
}
