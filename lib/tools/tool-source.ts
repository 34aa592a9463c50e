import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CfnResource } from 'aws-cdk-lib';
import { AssetHashType } from 'aws-cdk-lib';
import { Code, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';
import { writeFiles } from '../bundles.ts';
import { partsBeside, partsInPlace, partsOf } from '../server-code.ts';
import { NODE_ON_ARM } from '../server-function.ts';

/** Metadata that `mcp-task-server dev` reads: the file and the options from which it builds the function. */
export const SOURCE_MARK = 'mcp-task-server:source';
/** Context that `mcp-task-server dev` sets: it builds the tools itself, in milliseconds, and again when a file changes. */
export const DEV_CONTEXT = 'mcp-task-server:dev';

/** Options of esbuild that have the same name and value in the bundling. */
const SAME = ['minify', 'loader', 'keepNames', 'define', 'mainFields', 'inject', 'target', 'charset'] as const;
/** Options of the bundling that `sourceOf` translates. */
const TRANSLATED = [
  ...['format', 'bundleAwsSDK', 'esbuildArgs', 'banner', 'footer', 'externalModules', 'tsconfig'],
  ...['sourceMap', 'sourcesContent'],
];
const DYNAMIC_IMPORT = '--supported:dynamic-import';

/** The file of a tool, and the options of esbuild that its bundling stands for. */
export interface ToolSource {
  readonly entry: string;
  readonly options: BuildOptions;
}

/** The options with which esbuild builds the function in this process; undefined if only CDK's bundling can build it. */
export function sourceOf(entry: string, bundling: BundlingOptions): ToolSource | undefined {
  const { format, bundleAwsSDK, banner, footer, externalModules, tsconfig, esbuildArgs = {} } = bundling;
  const given = Object.entries(bundling).filter(([, value]) => value !== undefined);
  const known: readonly string[] = [...SAME, ...TRANSLATED];
  if (given.some(([name]) => !known.includes(name))) return undefined;
  if (format !== OutputFormat.CJS || bundleAwsSDK !== true) return undefined;
  if (Object.keys(esbuildArgs).some((name) => name !== DYNAMIC_IMPORT)) return undefined;
  const same = SAME.flatMap((name) => (bundling[name] === undefined ? [] : [[name, bundling[name]]]));
  return {
    entry: resolve(entry),
    options: {
      ...Object.fromEntries(same),
      ...(banner !== undefined && { banner: { js: banner } }),
      ...(footer !== undefined && { footer: { js: footer } }),
      ...(externalModules !== undefined && { external: externalModules }),
      ...(tsconfig !== undefined && { tsconfig: resolve(tsconfig) }),
      format,
      supported: { 'dynamic-import': esbuildArgs[DYNAMIC_IMPORT] !== 'false' },
    },
  };
}

/** Whether the app is synthesized by `mcp-task-server dev`. */
export const isDev = (scope: Construct): boolean => scope.node.tryGetContext(DEV_CONTEXT) === true;

/** Builds the code of a tool in this process: CDK starts npm for each function, which takes a second. */
export function codeOf({ entry, options }: ToolSource, { sourceMap, sourcesContent }: BundlingOptions): Code {
  const build: BuildOptions = {
    ...withParts(options, partsBeside),
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    ...(sourceMap !== undefined && { sourcemap: sourceMap }),
    ...(sourcesContent !== undefined && { sourcesContent }),
  };
  return bundledCode(entry, build, (folder) => {
    const outfile = `${folder}/index.js`;
    buildSync({ ...build, outfile });
    writeFiles(folder, partsOf(readFileSync(outfile)));
  });
}

const withParts = (options: BuildOptions, { alias, external }: typeof partsBeside): BuildOptions => ({
  ...options,
  alias,
  external: [...(options.external ?? []), ...external],
});

/** Replaces the code until `dev` has built it. */
export function placeholderCode({ entry }: ToolSource): Code {
  const contents = 'throw new Error("mcp-task-server dev builds this function");';
  return bundledCode(entry, {}, (folder) => buildSync({ stdin: { contents }, outfile: `${folder}/index.js` }));
}

/** @param build identifies the code, together with `entry`: CDK bundles equal inputs once */
function bundledCode(entry: string, build: BuildOptions, write: (folder: string) => unknown): Code {
  return Code.fromAsset(dirname(entry), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: NODE_ON_ARM.runtime.bundlingImage,
      command: ['esbuild', entry, JSON.stringify(build)],
      local: {
        tryBundle(folder) {
          write(folder);
          return true;
        },
      },
    },
  });
}

/** Adds the metadata from which `dev` builds the function. */
export function addSource(handler: LambdaFunction, { entry, options }: ToolSource): void {
  (handler.node.defaultChild as CfnResource).addMetadata(SOURCE_MARK, {
    entry,
    options: withParts(options, partsInPlace()),
  });
}
