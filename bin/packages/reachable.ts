import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Published } from './package-json.ts';

/**
 * Removes the compiled files that no entry and no command of the package needs: other sources only import their types.
 * Throws if a remaining file imports a package that is neither a dependency nor a peer.
 */
export function removeUnreached(
  folder: string,
  { exports = {}, imports = {}, bin = {}, dependencies, peerDependencies }: Published,
): void {
  const entries = Object.values(exports).flatMap((entry) => [join(entry.types), join(entry.default)]);
  const reached = new Set([...entries, ...Object.values(bin).map((file) => join(file))]);
  const packages = new Set(Object.keys({ ...(dependencies ?? {}), ...(peerDependencies ?? {}) }));
  for (const file of reached) {
    for (const name of importsIn(readFileSync(join(folder, file), 'utf8'))) {
      if (name.startsWith('.')) reached.add(target(join(dirname(file), name), file));
      else if (name.startsWith('#')) reached.add(join(ownFile(name, imports)));
      else if (!name.startsWith('node:') && !packages.has(packageOf(name))) {
        throw new Error(`${file} imports ${name}: not a dependency`);
      }
    }
  }
  for (const file of globSync('**/*.{js,d.ts}', { cwd: folder })) {
    if (!reached.has(file)) rmSync(join(folder, file));
  }
  const missing = [...reached].filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) throw new Error(`Imported, but not there: ${missing.join(', ')}`);
}

const IMPORT = /(?:^(?:import|export)\b[^'";]*\bfrom\s*|^import\s*|\bimport\()['"]([^'"\n]+)['"]/gm;
const importsIn = (code: string): string[] => [...code.matchAll(IMPORT)].map(([, name = '']) => name);

/** The file that an import names. In declarations TypeScript writes `.ts` for the declaration beside the file. */
const target = (path: string, from: string) => (from.endsWith('.d.ts') ? path.replace(/\.(js|ts)$/, '.d.ts') : path);

/** The file that the package imports by a name such as `#aws/s3`. */
function ownFile(name: string, imports: NonNullable<Published['imports']>): string {
  const [folder = '', part = ''] = name.split('/');
  return imports[name]?.default ?? (imports[`${folder}/*`]?.default ?? '').replace('*', part);
}

const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');
