import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheName, opened } from '../../functions/loader/cache-file.ts';
import { madeHere } from '../../lib/code-cache/index.ts';
import { CACHED, serverCode } from '../../lib/server-code.ts';

/** The system that Lambda runs the functions of the server on. */
const LAMBDA = cacheName('linux', 'arm64');

/**
 * Adds the code caches for Lambda to the prebuilt functions. They come from the folder that CODE_CACHES names; without it
 * they are made here, if this is the same system, and left out if not. Throws if one was made of another bundle.
 */
export function addCodeCaches(prebuilt: string): void {
  const { CODE_CACHES: folder } = process.env;
  for (const name of CACHED) {
    const file = `${name}.${LAMBDA}`;
    const made = folder === undefined ? madeForLambda(name) : readFileSync(join(folder, file));
    if (made === undefined) console.log(`${name} has no code cache: this is not Linux on arm64, with Node 24`);
    else writeFileSync(join(prebuilt, file), checked(file, made, serverCode(name)));
  }
}

function madeForLambda(name: (typeof CACHED)[number]): Uint8Array | undefined {
  const made = cacheName() === LAMBDA ? madeHere(name, serverCode(name)) : undefined;
  return made?.file;
}

function checked(name: string, file: Uint8Array, code: Uint8Array): Uint8Array {
  const problem = opened(Buffer.from(file), code);
  if (problem === 'source') throw new Error(`${name} was made of another bundle: build it from the same commit`);
  if (problem === 'damaged') throw new Error(`${name} is damaged`);
  return file;
}

// `node bin/packages/code-caches.ts FOLDER`: writes the caches of this system and this Node, for CODE_CACHES elsewhere.
if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2);
  if (folder === '') throw new Error('Name the folder to write to');
  mkdirSync(folder, { recursive: true });
  for (const name of CACHED) {
    const made = madeHere(name, serverCode(name));
    if (made === undefined) throw new Error(`${name}: no code cache could be made`);
    writeFileSync(join(folder, `${name}.${made.name}`), made.file);
  }
}
