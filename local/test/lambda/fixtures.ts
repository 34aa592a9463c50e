import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach } from 'vitest';
import {
  createLambda,
  type FunctionSpec,
  type InvokeResult,
  type Lambda,
  type LambdaOptions,
} from '../../lambda/index.ts';

export interface Bench {
  /** Writes an asset: the text of index.js, or several files by name. */
  define(name: string, source: string | Record<string, string>, spec?: Partial<FunctionSpec>): FunctionSpec;
  /** A Lambda that ends with the test. @param options.sharedWorkers @default false */
  open(functions: FunctionSpec[], options?: LambdaOptions): Lambda;
}

/** Function assets in a folder whose package.json says "module", as the project's own does. */
export function useBench(): Bench {
  const root = mkdtempSync(join(tmpdir(), 'lambda-'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const opened: Lambda[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((lambda) => lambda.stop()));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  return {
    define(name, source, spec = {}) {
      const codePath = join(root, name);
      for (const [file, text] of Object.entries(typeof source === 'string' ? { 'index.js': source } : source)) {
        mkdirSync(dirname(join(codePath, file)), { recursive: true });
        writeFileSync(join(codePath, file), text);
      }
      const arn = `arn:aws:lambda:eu-central-1:123456789012:function:${name}`;
      const limits = { timeoutSeconds: 10, memoryMb: 128 };
      return { name, arn, codePath, handler: 'index.handler', ...limits, environment: {}, ...spec };
    },
    open(functions, options) {
      const lambda = createLambda(functions, { sharedWorkers: false, ...options });
      opened.push(lambda);
      return lambda;
    },
  };
}

export function errorOf(result: InvokeResult): { errorType: string; errorMessage: string; trace?: string[] } {
  if (result.functionError !== 'Unhandled') throw new Error(`the function did not fail: ${result.payload}`);
  return JSON.parse(result.payload);
}

export async function textOf(body: Readable): Promise<string> {
  return (await body.toArray()).join('');
}

/** Waits until it holds, or fails after two minutes. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 24_000; tries++) {
    if (holds()) return;
    await pause(5);
  }
  throw new Error('it never came true');
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
