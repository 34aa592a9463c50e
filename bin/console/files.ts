import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The files of the page, with their types. Nothing else is served. */
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'parts.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'main.js': 'text/javascript; charset=utf-8',
  'api.js': 'text/javascript; charset=utf-8',
  'dialog.js': 'text/javascript; charset=utf-8',
  'list.js': 'text/javascript; charset=utf-8',
  'lit-html.js': 'text/javascript; charset=utf-8',
  'parts.js': 'text/javascript; charset=utf-8',
  'text.js': 'text/javascript; charset=utf-8',
  'task/bars.js': 'text/javascript; charset=utf-8',
  'task/logs.js': 'text/javascript; charset=utf-8',
  'task/payload.js': 'text/javascript; charset=utf-8',
  'task/questions.js': 'text/javascript; charset=utf-8',
  'task/task.js': 'text/javascript; charset=utf-8',
  'task/waterfall.js': 'text/javascript; charset=utf-8',
} as const;

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

export function pageFile(name: string): PageFile | undefined {
  if (!Object.hasOwn(TYPES, name)) return undefined;
  return { type: TYPES[name as keyof typeof TYPES], body: readFileSync(placeOf(name)) };
}

/** The path of a file. The build puts the library beside the page; in this repository it is in node_modules. */
function placeOf(name: string): string {
  const here = fileURLToPath(new URL(`page/${name}`, import.meta.url));
  return existsSync(here) ? here : fileURLToPath(new URL(`../../node_modules/lit-html/${name}`, import.meta.url));
}
