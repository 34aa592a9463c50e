import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { ROOT } from './pages.ts';

/** A block of TypeScript: the text of its first line, and the rest. */
export interface Snippet {
  readonly about: string;
  readonly code: string;
}

/** The blocks of TypeScript. Each begins with a comment that names its file or purpose. */
export function snippetsOf(page: string): Snippet[] {
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => {
    const [, about = '', code = ''] = /^\/\/ (.*?)\n(.*)$/s.exec(block) ?? [];
    return { about, code };
  });
}

export function snippet(page: string, about: string): string {
  const found = snippetsOf(page).find((one) => one.about.startsWith(about));
  if (found === undefined) throw new Error(`There is no snippet '${about}'`);
  return found.code;
}

/** Inside the package, whose name the snippets import; git and the linter leave such folders alone. */
export function useFolder(): { readonly path: string; readonly write: (name: string, text: string) => string } {
  const path = mkdtempSync(join(ROOT, 'cdk.out.docs-'));
  afterAll(() => rmSync(path, { recursive: true }));
  return {
    path,
    write(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}
