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
  /** The code, once this process has built it. */
  code?: string;
}

/** Whether esbuild in this process builds what CDK's bundling would build. Otherwise CDK has to. */
export function isBuiltHere(bundling: BundlingOptions): boolean {
  const { format, bundleAwsSDK, esbuildArgs = {} } = bundling;
  const given = Object.entries(bundling).filter(([, value]) => value !== undefined);
  const known: readonly string[] = [...SAME, ...TRANSLATED];
  if (given.some(([name]) => !known.includes(name))) return false;
  if (format !== OutputFormat.CJS || bundleAwsSDK !== true) return false;
  return Object.keys(esbuildArgs).every((name) => name === DYNAMIC_IMPORT);
}

/** Translates the options of a bundling that esbuild has, too. The packages that CDK would install stay outside the code. */
export function sourceOf(entry: string, bundling: BundlingOptions): ToolSource {
  const { banner, footer, externalModules, nodeModules, tsconfig, esbuildArgs = {} } = bundling;
  const external = [externalModules, nodeModules].flatMap((names) => names ?? []);
  const same = SAME.flatMap((name) => (bundling[name] === undefined ? [] : [[name, bundling[name]]]));
  return {
    entry: resolve(entry),
    options: {
      ...Object.fromEntries(same),
      ...(banner !== undefined && { banner: { js: banner } }),
      ...(footer !== undefined && { footer: { js: footer } }),
      ...(external.length > 0 && { external }),
      ...(tsconfig !== undefined && { tsconfig: resolve(tsconfig) }),
      format: 'cjs',
      supported: { 'dynamic-import': esbuildArgs[DYNAMIC_IMPORT] !== 'false' },
    },
  };
}

/** Whether the app is synthesized by `mcp-task-server dev`. */
export const isDev = (scope: Construct): boolean => scope.node.tryGetContext(DEV_CONTEXT) === true;

/** Builds the code of a tool in this process: CDK starts npm for each function, which takes a second. */
export function codeOf(source: ToolSource, { sourceMap, sourcesContent }: BundlingOptions): Code {
  const build: BuildOptions = {
    ...buildOf(source),
    ...(sourceMap !== undefined && { sourcemap: sourceMap }),
    ...(sourcesContent !== undefined && { sourcesContent }),
  };
  return bundledCode(source.entry, build, (folder) => {
    const outfile = `${folder}/index.js`;
    buildSync({ ...build, outfile });
    const code = readFileSync(outfile);
    source.code = code.toString();
    writeFiles(folder, partsOf(code));
  });
}

const buildOf = ({ entry, options }: ToolSource): BuildOptions => ({
  ...withParts(options, partsBeside),
  entryPoints: [entry],
  bundle: true,
  platform: 'node',
});

/** The code of a tool as text. Builds it, unless it is built. */
export function builtCode(source: ToolSource): string {
  source.code ??= buildSync({ ...buildOf(source), write: false, logLevel: 'silent' }).outputFiles?.[0]?.text ?? '';
  return source.code;
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
