import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Aspects, Lazy } from 'aws-cdk-lib';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct, IConstruct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';
import type { Manifest } from '../functions/mcp/manifest.ts';
import { validatorsCode } from './validators.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * How the endpoint is bundled (design section 12): CommonJS and no dynamic import, since an ESM `import 'node:http'`
 * loads undici, some 30 ms of every cold start.
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

/**
 * The endpoint's code: known only once every tool is registered, while the function is there from the start. So
 * the function refers to an asset that is made when the app is synthesized.
 */
export class McpCode extends Code {
  readonly isInline = false;
  readonly #manifest: () => Manifest;
  #asset: Asset | undefined;

  constructor(manifest: () => Manifest) {
    super();
    this.#manifest = manifest;
  }

  override bind(scope: Construct): CodeConfig {
    const asset = () =>
      (this.#asset ??= bundleEndpoint(this.#manifest(), (path) => new Asset(scope, 'McpCode', { path })));
    Aspects.of(scope).add({ visit: (node: IConstruct) => void (node === scope && asset()) });
    return {
      s3Location: {
        bucketName: Lazy.string({ produce: () => asset().s3BucketName }),
        objectKey: Lazy.string({ produce: () => asset().s3ObjectKey }),
      },
    };
  }
}

/** Bundles endpoint, manifest and validators into one `index.js`; `use` gets the folder while it exists. */
export function bundleEndpoint<T>(manifest: Manifest, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-task-server-'));
  try {
    const parts = join(folder, 'parts');
    const out = join(folder, 'out');
    const entry = `
      import { createHandler } from './functions/mcp/index.ts';
      import manifest from '${parts}.json';
      import * as validators from '${parts}.cjs';
      export const handler = createHandler(manifest, validators);`;
    writeFileSync(`${parts}.json`, JSON.stringify(manifest));
    writeFileSync(`${parts}.cjs`, validatorsCode(manifest.tools));
    buildSync({ ...bundleOptions, stdin: { contents: entry, resolveDir: ROOT }, outfile: join(out, 'index.js') });
    return use(out);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
