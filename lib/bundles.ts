import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Aspects, Lazy } from 'aws-cdk-lib';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct, IConstruct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';
import type { Manifest, ToolEntry } from '../functions/mcp/manifest.ts';
import { validatorsCode } from './tools/validators.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * How the functions of the server itself are bundled (docs/architecture.md, "Cold start"): CommonJS and no dynamic
 * import, since an ESM `import 'node:http'` loads undici, some 30 ms of every cold start.
 */
const bundleOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  supported: { 'dynamic-import': false },
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'functions/mcp/env-credentials.ts') },
  absWorkingDir: ROOT,
  nodePaths: [join(ROOT, 'node_modules')],
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** Makes a folder of code, and calls `use` while it exists. */
export type Bundle = <T>(use: (folder: string) => T) => T;

/**
 * The code of a function of the server itself. The function is made first, but its code depends on every tool. So it
 * refers to an asset that is made at synth.
 */
export class BundledCode extends Code {
  readonly isInline = false;
  readonly #bundle: Bundle;
  #asset: Asset | undefined;

  constructor(bundle: Bundle) {
    super();
    this.#bundle = bundle;
  }

  override bind(scope: Construct): CodeConfig {
    const asset = () => (this.#asset ??= this.#bundle((path) => new Asset(scope, 'McpCode', { path })));
    Aspects.of(scope).add({ visit: (node: IConstruct) => void (node === scope && asset()) });
    return {
      s3Location: {
        bucketName: Lazy.string({ produce: () => asset().s3BucketName }),
        objectKey: Lazy.string({ produce: () => asset().s3ObjectKey }),
      },
    };
  }
}

/** Endpoint, manifest and validators in one `index.js`. */
export function bundleEndpoint<T>(manifest: Manifest, use: (folder: string) => T): T {
  const entry = `
    import { createHandler } from './functions/mcp/index.ts';
    import manifest from 'parts/manifest.json';
    import * as validators from 'parts/validators.cjs';
    export const handler = createHandler(manifest, validators);`;
  const parts = { 'manifest.json': JSON.stringify(manifest), 'validators.cjs': validatorsCode(manifest.tools) };
  return bundle(entry, parts, use);
}

/** The reconciler, and by tool its workflow and its state machine, in one `index.js`. */
export function bundleReconciler<T>(tools: readonly ToolEntry[], use: (folder: string) => T): T {
  const entry = `
    import { createHandler } from './functions/reconciler/index.ts';
    import machines from 'parts/machines.json';
    import stateMachines from 'parts/state-machines.json';
    export const handler = createHandler(machines, stateMachines);`;
  const byName = (of: (tool: ToolEntry) => string | number | undefined) =>
    JSON.stringify(Object.fromEntries(tools.map((tool) => [tool.name, of(tool)])));
  const parts = {
    'machines.json': byName(({ machine }) => machine),
    'state-machines.json': byName(({ stateMachine }) => stateMachine),
  };
  return bundle(entry, parts, use);
}

/** The authorizer, and the scopes that tools need, in one `index.js`. */
export function bundleAuthorizer<T>(tools: readonly ToolEntry[], use: (folder: string) => T): T {
  const entry = `
    import { createHandler } from './functions/authorizer/index.ts';
    import scopes from 'parts/scopes.json';
    export const handler = createHandler(scopes);`;
  const scopes = tools.flatMap(({ name, scopes }) => (scopes === undefined ? [] : [[name, scopes] as const]));
  return bundle(entry, { 'scopes.json': JSON.stringify(Object.fromEntries(scopes)) }, use);
}

/** The rotation of the signing key, in one `index.js`. */
export function bundleRotation<T>(use: (folder: string) => T): T {
  return bundle(`export { handler } from './functions/rotation/index.ts';`, {}, use);
}

/** `parts`: by name, the texts of files that the entry of this bundle imports from `parts`. */
function bundle<T>(entry: string, parts: Readonly<Record<string, string>>, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-task-server-'));
  try {
    const out = join(folder, 'out');
    for (const [name, text] of Object.entries(parts)) writeFileSync(join(folder, name), text);
    const options = { ...bundleOptions, alias: { ...bundleOptions.alias, parts: folder } };
    buildSync({ ...options, stdin: { contents: entry, resolveDir: ROOT }, outfile: join(out, 'index.js') });
    return use(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
