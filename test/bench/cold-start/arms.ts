import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundleEndpoint } from '../../../lib/bundles.ts';
import { manifest } from '../endpoint/endpoint.ts';

/** The endpoint as it is deployed. */
export function endpoint(folder: string): void {
  bundleEndpoint(manifest, (built) => cpSync(built, folder, { recursive: true }));
}

/** A handler of this folder, bundled as a user would. */
export const handler = (name: 'bare' | 'sdk') => (folder: string) => bundled(`${name}.ts`, join(folder, 'index.js'));

/** The empty handler, bundled as well as the endpoint: from ES modules, without the chain that searches for credentials. */
export function well(folder: string): void {
  const chain = join(import.meta.dirname, '../../../lib/no-credential-chain.ts');
  const alias = { '@aws-sdk/credential-provider-node': chain };
  const supported = { 'dynamic-import': false };
  bundled('well.ts', join(folder, 'index.js'), { mainFields: ['module', 'main'], supported, alias });
}

/** A file of this folder, bundled with all that it needs. */
export function bundled(file: string, outfile: string, options: BuildOptions = {}): void {
  buildSync({
    ...options,
    ...{ bundle: true, minify: true, platform: 'node', target: 'node24', format: 'cjs', logLevel: 'error' },
    ...{ entryPoints: [join(import.meta.dirname, file)], outfile },
  });
}
