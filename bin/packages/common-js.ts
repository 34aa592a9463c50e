import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';

/**
 * Puts a CommonJS file `x.cjs` beside each `x.js`. Node needs none, but Jest does: in the CommonJS project that `cdk init`
 * makes, it loads an ES module on Node 24.9 and newer only.
 */
export function addCommonJs(folder: string): void {
  for (const file of globSync('**/*.js', { cwd: folder, exclude: ['prebuilt'] })) {
    const { code } = transformSync(readFileSync(join(folder, file), 'utf8'), {
      format: 'cjs',
      platform: 'node',
      target: 'node22',
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': 'importMetaUrl' },
    });
    const url = code.includes('importMetaUrl')
      ? "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;\n"
      : '';
    const siblings = code.replace(/(require\("\.{1,2}\/[^"]*)\.js"\)/g, '$1.cjs")');
    writeFileSync(join(folder, file.replace(/\.js$/, '.cjs')), url + siblings);
  }
}
