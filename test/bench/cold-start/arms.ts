import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { cacheName } from '../../../functions/loader/cache-file.ts';
import { bundleEndpoint } from '../../../lib/bundles.ts';
import { warmUps } from '../../../lib/code-cache/warm-up.ts';

const ROOT = join(import.meta.dirname, '../../..');
const manifest = JSON.parse(warmUps.endpoint?.parts['manifest.json'] ?? '');

/** A commit of release 0.1, which has no tag. */
export const LAST_RELEASE = 'ec43b98';

/** The endpoint as it is deployed, with its cache for this machine. */
export function endpoint(folder: string): void {
  bundleEndpoint(manifest, (built) => cpSync(built, folder, { recursive: true }));
  if (!existsSync(join(folder, cacheName()))) throw new Error('There is no code cache to measure: it needs Node 24');
}

export function withoutCache(folder: string): void {
  endpoint(folder);
  rmSync(join(folder, cacheName()));
}

/** A handler of this folder, bundled as a user would. */
export const handler = (name: 'bare' | 'sdk') => (folder: string) => bundled(`${name}.ts`, join(folder, 'index.js'));

/** A file of this folder, bundled with all that it needs. */
export function bundled(file: string, outfile: string): void {
  buildSync({
    ...{ bundle: true, minify: true, platform: 'node', target: 'node24', format: 'cjs', logLevel: 'error' },
    ...{ entryPoints: [join(import.meta.dirname, file)], outfile },
  });
}

/** The endpoint of an earlier commit, with the dependencies of this one. Throws if git does not have it. */
export const release = (ref: string) => (folder: string) => {
  const source = `${folder}-source`;
  mkdirSync(source);
  try {
    const tar = execFileSync('git', ['archive', ref], {
      cwd: ROOT,
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    execFileSync('tar', ['-x', '-C', source], { input: tar });
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
    const build = join(source, 'bench.mjs');
    const bundles = ['lib/bundles.ts', 'lib/mcp-code.ts'].map((file) => join(source, file)).find(existsSync) ?? '';
    writeFileSync(
      build,
      `import { cpSync } from 'node:fs';
      const { bundleEndpoint } = await import(${JSON.stringify(pathToFileURL(bundles).href)});
      const recursive = { recursive: true };
      bundleEndpoint(${JSON.stringify(manifest)}, (built) => cpSync(built, ${JSON.stringify(folder)}, recursive));`,
    );
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(source, { recursive: true });
  }
};
