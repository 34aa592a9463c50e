import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** One file that imports another, both as paths from the root of the repository. Type-only imports count. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** All tracked files below these folders. */
export function trackedFiles(...folders: readonly string[]): string[] {
  return execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

/** The relative imports of these files, re-exports and dynamic imports included. */
export function importsOf(files: readonly string[]): Import[] {
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((from) => importsIn(readFileSync(from, 'utf8')).map((path) => ({ from, to: resolve(from, path) })));
}

export function importsIn(source: string): string[] {
  return [...source.matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)].map(([, path = '']) => path);
}

const resolve = (from: string, path: string) => posix.normalize(posix.join(posix.dirname(from), path));

/** Imports between folders: two files stand for the folders below the deepest one that holds both. */
export function folderImports(imports: readonly Import[]): Import[] {
  return imports.flatMap(({ from, to }) => {
    const [a, b] = [from.split('/'), to.split('/')];
    const shared = a.findIndex((name, index) => name !== b[index]);
    // A file that lies directly in the shared folder is in no folder beside the other's.
    if (shared < 0 || shared >= a.length - 1 || shared >= b.length - 1) return [];
    return [{ from: a.slice(0, shared + 1).join('/'), to: b.slice(0, shared + 1).join('/') }];
  });
}

/** One circle as its members in order, or undefined if there is none. */
export function findCircle(imports: readonly Import[]): string[] | undefined {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of imports) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of targets.get(name) ?? []) {
      const circle = visit(next, [...path, name]);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of targets.keys()) {
    const circle = visit(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
