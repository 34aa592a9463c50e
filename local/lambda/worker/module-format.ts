import { existsSync, readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

interface CompilingModule extends NodeJS.Module {
  _compile(source: string, file: string, format: 'commonjs'): void;
}

/** Loads a `.js` file as CommonJS unless the asset says otherwise, as Lambda does. A package.json above the asset says "module". */
export function loadAsDeployed(codePath: string): void {
  const isBare = (file: string): boolean =>
    file.startsWith(codePath + sep) && file.endsWith('.js') && !ownPackage(file, codePath);
  compileAsCommonJs(isBare);
  // For `import`: the loader must not link the file as an ES module.
  registerHooks({
    load(url, context, next) {
      const bare = url.startsWith('file:') && isBare(fileURLToPath(url));
      return next(url, bare ? { ...context, format: 'commonjs' } : context);
    },
  });
}

/** Compiles for `require`, and for the second step of `import`, which calls no hook. */
function compileAsCommonJs(isBare: (file: string) => boolean): void {
  const { extensions } = createRequire(import.meta.url);
  const compile = extensions['.js'];
  extensions['.js'] = (module, file) => {
    if (!isBare(file)) return compile(module, file);
    (module as CompilingModule)._compile(readFileSync(file, 'utf8'), file, 'commonjs');
  };
}

export function isModuleFile(file: string, codePath: string): boolean {
  if (!file.endsWith('.js')) return file.endsWith('.mjs');
  const path = ownPackage(file, codePath);
  if (path === undefined) return false;
  const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'type' in manifest && manifest.type === 'module';
}

/** The package.json inside the asset that governs the file. */
function ownPackage(file: string, codePath: string): string | undefined {
  for (let folder = dirname(file); folder.startsWith(codePath); folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    if (existsSync(path)) return path;
  }
  return undefined;
}
