import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { watch } from 'chokidar';

/** Extensions of the files that a synthesis may read, or a build whose inputs are not known yet. */
const CODE = new Set(['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.json', '.jsonata', '.py']);
/** Time to wait for the next write, in milliseconds: editors write a file in several steps. */
const SETTLE = 30;

/**
 * Calls `changed` with the files of a folder that were written, made or removed, shortly after the last of them.
 * Leaves out `node_modules`, hidden folders and the output of `cdk synth`. Resolves once it watches.
 */
export async function watchFiles(folder: string, changed: (files: ReadonlySet<string>) => void) {
  const home = realpathSync(folder);
  const followed = new Set<string>();
  const ignored = (path: string) => {
    const parts = relative(folder, path).split(sep);
    return parts.some((part) => part === 'node_modules' || part.startsWith('cdk.out') || /^\.[^.]/.test(part));
  };
  const watcher = watch(folder, { ignored, ignoreInitial: true });
  let files = new Set<string>();
  const contents = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  watcher.on('all', (_event, path) => {
    if (!CODE.has(extname(path)) && !followed.has(real(path))) return;
    // An app command that compiles writes the same files at each synthesis.
    const content = contentOf(path);
    if (contents.get(path) === content) return;
    contents.set(path, content);
    files.add(join(path));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const settled = files;
      files = new Set();
      changed(settled);
    }, SETTLE);
  });
  await new Promise<void>((resolve, reject) => watcher.once('ready', resolve).once('error', reject));
  return {
    /** Also follows these, wherever they lie and whatever their extension, but nothing in `node_modules`. */
    follow(inputs: Iterable<string>): void {
      for (const file of inputs) {
        if (followed.has(file) || file.split(sep).includes('node_modules') || !existsSync(file)) continue;
        followed.add(file);
        if (relative(home, file).startsWith('..')) watcher.add(file);
      }
    },
    stop: () => watcher.close(),
  };
}

/** Resolves links, because the bundler names files by their real path. A missing file keeps its name. */
export function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function contentOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('base64');
  } catch {
    return '';
  }
}
