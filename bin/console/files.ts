import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
};
/** The names of the files that are served: no name leads out of the folder of the page. */
const NAME = /^(?:task\/)?[a-z-]+\.([a-z]+)$/;

export function pageFile(name: string): { readonly type: string; readonly body: Buffer } | undefined {
  const type = TYPES[NAME.exec(name)?.[1] ?? ''];
  if (type === undefined) return undefined;
  const path = placeOf(name);
  return existsSync(path) ? { type, body: readFileSync(path) } : undefined;
}

/** The path of a file. The build puts the library beside the page; in this repository it is in node_modules. */
function placeOf(name: string): string {
  const here = fileURLToPath(new URL(`page/${name}`, import.meta.url));
  if (name !== 'lit-html.js' || existsSync(here)) return here;
  return fileURLToPath(new URL(`../../node_modules/lit-html/${name}`, import.meta.url));
}
