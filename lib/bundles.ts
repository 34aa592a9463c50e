import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Aspects, Lazy } from 'aws-cdk-lib';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct, IConstruct } from 'constructs';
import { isRepeatable, type Manifest, type ToolEntry } from '../functions/mcp/manifest.ts';
import type { KnownTool } from '../functions/reconciler/index.ts';
import type { Shown } from '../functions/signals/context.ts';
import { isLoopback, type OAuth } from './auth/auth.ts';
import { bundled, type ServerFunction, serverCode } from './server-code.ts';
import { validatorsCode } from './tools/validators.ts';

type Use<T> = (folder: string) => T;
/** Makes a folder of code, and calls `use` while it exists. */
export type Bundle = <T>(use: Use<T>) => T;

/**
 * The code of a function of the server itself. The function is made first, but its code depends on every tool. So the
 * function refers to an asset that is made at synth.
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

/** Bundles the endpoint, with its manifest and its validators beside it. */
export function bundleEndpoint<T>(manifest: Manifest, use: Use<T>): T {
  const parts = {
    'manifest.json': JSON.stringify(manifest),
    'validators.cjs': bundled(validatorsCode(manifest.tools)),
  };
  return bundle(manifest.events ? 'endpointWithEvents' : 'endpoint', parts, use);
}

/** Bundles the reconciler, with the facts of each tool that it needs beside it. */
export function bundleReconciler<T>(tools: readonly ToolEntry[], use: Use<T>): T {
  const known = tools.flatMap(({ name, engine, stateMachine, ...tool }): KnownTool[] =>
    engine === undefined ? [] : [{ name, engine, stateMachine, repeatable: isRepeatable(tool) }],
  );
  return bundle('reconciler', { 'tools.json': JSON.stringify(known) }, use);
}

/** Bundles the function of signals, with what its page shows beside it. */
export function bundleSignals<T>({ serverInfo, tools }: Pick<Manifest, 'serverInfo' | 'tools'>, use: Use<T>): T {
  const titles = tools.flatMap(({ name, title }) => (title === undefined ? [] : [[name, title] as const]));
  const shown: Shown = { server: serverInfo.title ?? serverInfo.name, titles: Object.fromEntries(titles) };
  return bundle('signals', { 'shown.json': JSON.stringify(shown) }, use);
}

/** Bundles the authorizer, with the scopes that tools need beside it. An issuer on this machine needs another build. */
export function bundleAuthorizer<T>(tools: readonly ToolEntry[], { issuer, jwksUri = '' }: OAuth, use: Use<T>): T {
  const scopes = tools.flatMap(({ name, scopes }) => (scopes === undefined ? [] : [[name, scopes] as const]));
  const parts = { 'scopes.json': JSON.stringify(Object.fromEntries(scopes)) };
  return bundle([issuer, jwksUri].some(isLoopback) ? 'authorizerOnLoopback' : 'authorizer', parts, use);
}

/**
 * Bundles a function of the server.
 *
 * @param parts the files beside the code of the function, by name
 */
export function bundle<T>(name: ServerFunction, parts: Readonly<Record<string, string | Uint8Array>>, use: Use<T>): T {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-task-server-'));
  try {
    writeFiles(folder, { ...parts, ...serverCode(name) });
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param files by their paths in the folder */
export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
