import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { CfnResource } from 'aws-cdk-lib';
import { Code, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';

/** Read by `mcp-task-server dev`: the file and the options from which it builds the function. */
const MARK = 'mcp-task-server:source';
/** Set by `mcp-task-server dev`, which builds the tools itself: in milliseconds, and again when a file changes. */
const CONTEXT = 'mcp-task-server:dev';

/** Options of esbuild with the same name and value as those of the bundling. */
const SAME = ['minify', 'loader', 'keepNames', 'define', 'mainFields', 'inject', 'target'] as const;
/** What only the bundling of CDK can do. */
const OTHER = ['nodeModules', 'commandHooks', 'forceDockerBundling', 'dockerImage'] as const;

/** Whether `dev` builds this function. What needs more than `addSource` can say is left to CDK. */
export function isBuiltByDev(scope: Construct, bundling: BundlingOptions): boolean {
  if (scope.node.tryGetContext(CONTEXT) !== true || OTHER.some((name) => bundling[name] !== undefined)) return false;
  const { format, bundleAwsSDK, esbuildArgs = {} } = bundling;
  const args = Object.keys(esbuildArgs).filter((name) => name !== '--supported:dynamic-import');
  return format === OutputFormat.CJS && bundleAwsSDK === true && args.length === 0;
}

/** Stands for the code until `dev` has built it. */
export function placeholderCode(): Code {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-task-server-'));
  writeFileSync(join(folder, 'index.js'), 'throw new Error("mcp-task-server dev builds this function");\n');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return Code.fromAsset(folder);
}

/** Tells `dev` how to build a function: the options of esbuild that the bundling stands for. */
export function addSource(handler: LambdaFunction, entry: string, bundling: BundlingOptions): void {
  const { banner, footer, externalModules, tsconfig, format, esbuildArgs = {} } = bundling;
  const options = {
    ...Object.fromEntries(SAME.flatMap((name) => (bundling[name] === undefined ? [] : [[name, bundling[name]]]))),
    ...(banner !== undefined && { banner: { js: banner } }),
    ...(footer !== undefined && { footer: { js: footer } }),
    ...(externalModules !== undefined && { external: externalModules }),
    ...(tsconfig !== undefined && { tsconfig: resolve(tsconfig) }),
    ...(format !== undefined && { format }),
    supported: { 'dynamic-import': esbuildArgs['--supported:dynamic-import'] !== 'false' },
  };
  (handler.node.defaultChild as CfnResource).addMetadata(MARK, { entry: resolve(entry), options });
}
