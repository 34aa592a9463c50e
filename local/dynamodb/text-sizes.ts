import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';

/**
 * What dynalite counts in UTF-16 units, and DynamoDB in bytes of UTF-8: texts, names of attributes, and keys ("DynamoDB item sizes
 * and formats" in the developer guide).
 */
const COUNTS = [
  ["case 'S':\n    return val.length", "case 'S':\n    return Buffer.byteLength(val)"],
  ['compress ? 1 : attr.length', 'compress ? 1 : Buffer.byteLength(attr)'],
  [
    "if (type == 'B') keyPiece = Buffer.from(keyPiece, 'base64')",
    "keyPiece = Buffer.from(keyPiece, type == 'B' ? 'base64' : 'utf8')",
  ],
] as const;
const WRAPPER = ['exports', 'require', 'module', '__filename', '__dirname'];

/**
 * Loads dynalite's database, and lets it count bytes: for units, for the 400 KB of an item and for keys. Its functions call each
 * other within the module, so its text is changed before it runs. Throws an Error if dynalite counts in another way by now.
 */
export function loadDatabase(load: NodeJS.Require): unknown {
  const file = load.resolve('dynalite/db');
  const source = COUNTS.reduce(
    (text, [before, after]) => {
      if (text.split(before).length !== 2) throw new Error(`dynalite has no single “${before}” any more`);
      return text.replace(before, after);
    },
    readFileSync(file, 'utf8'),
  );
  const module = { id: file, filename: file, exports: {}, loaded: true } as NodeJS.Module;
  load.cache[file] = module;
  const run = compileFunction(source, WRAPPER, { filename: file });
  run(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}
