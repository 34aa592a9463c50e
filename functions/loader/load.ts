import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { metricLines, print } from '../tasks/log.ts';
import { cacheName, opened } from './cache-file.ts';

/** What a bundle exports. */
// biome-ignore lint/suspicious/noExplicitAny: Lambda calls it.
type Exports = Record<string, any>;

/** As Node wraps a CommonJS module. */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'] as const;

/**
 * Runs the `bundle.js` of a folder from its cache of compiled code, if there is one for this system. Whatever is wrong
 * with the cache, the bundle runs without it, and a line for CloudWatch says so (docs/deploying.md, "The code cache").
 */
export function load(folder: string, plain: NodeJS.Require): Exports {
  const file = `${folder}/bundle.js`;
  const cache = readCache(`${folder}/${cacheName()}`);
  if (cache === undefined) return plain(file);
  const source = readFileSync(file);
  const data = typeof cache === 'string' ? cache : opened(cache, source);
  if (typeof data === 'string') {
    refused(data);
    return plain(file);
  }
  const script = compiled(file, source, data);
  if (script.cachedDataRejected === true) refused('v8');
  const module = { exports: {} as Exports, id: file, filename: file, loaded: false, children: [], paths: [] };
  script.runInThisContext().call(module.exports, module.exports, plain, module, file, folder);
  module.loaded = true;
  return module.exports;
}

/** The bundle as a function of what Node gives a CommonJS module. Lines and columns are those of the file. */
export function compiled(filename: string, source: Buffer, cachedData?: Buffer): Script {
  const [before, after] = WRAPPER;
  return new Script(`${before}${source.toString()}${after}`, {
    filename,
    columnOffset: -before.length,
    ...(cachedData && { cachedData }),
  });
}

function readCache(file: string): Buffer | 'unreadable' | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    // Built on another architecture.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unreadable';
  }
}

function refused(reason: string): void {
  const FunctionName = process.env.AWS_LAMBDA_FUNCTION_NAME ?? '';
  print(metricLines({ CodeCacheRefused: 1 }, { FunctionName, reason }, Date.now(), [['FunctionName']]));
}
