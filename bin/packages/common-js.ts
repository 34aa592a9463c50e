import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';

/**
 * Puts a CommonJS file `x.cjs` beside each `x.js`, and `x.d.cts` beside each `x.d.ts`. Node needs none, but in the CommonJS
 * project that `cdk init` makes, Jest loads ES modules on Node 24.9 and newer only, and TypeScript with
 * `module: node16` not at all.
 */
export function addCommonJs(folder: string): void {
  for (const file of globSync('**/*.{js,d.ts}', { cwd: folder, exclude: ['prebuilt'] })) {
    const text = readFileSync(join(folder, file), 'utf8');
    const code = file.endsWith('.js') ? commonJs(text) : text.replace(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.cjs$2');
    writeFileSync(join(folder, file.replace(/\.js$/, '.cjs').replace(/\.d\.ts$/, '.d.cts')), code);
  }
}

const URL_OF_FILE = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;\n";

function commonJs(esm: string): string {
  const { code } = transformSync(esm, {
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'importMetaUrl' },
  });
  const siblings = code.replace(/(require\("\.{1,2}\/[^"]*)\.js"\)/g, '$1.cjs")');
  return siblings.includes('importMetaUrl') ? URL_OF_FILE + siblings : siblings;
}
