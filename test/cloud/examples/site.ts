import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, listen } from '../../../local/testing.ts';
import { changeAssembly } from '../../support/change-assembly.ts';

/** A site of pages in a tree, each of which takes `ms`: page n links to `width` others, and to one that is not there. */
export async function startSite(pages: number, ms = 0, width = 10) {
  /** How often each page was fetched. */
  const fetched = new Map<string, number>();
  const fetches = new EventEmitter();
  const server = createServer(async ({ url = '/' }, response) => {
    fetched.set(url, (fetched.get(url) ?? 0) + 1);
    fetches.emit(`${fetched.size}`);
    await sleep(ms);
    const page = Number(url.slice(1));
    if (!(page < pages)) return void response.writeHead(404).end();
    const below = Array.from({ length: width }, (_, n) => width * page + n + 1).filter((n) => n < pages);
    const links = [...below, 'gone', Math.floor(page / 2) || ''].map((n) => `<a class="x" href="/${n}">${n}</a>`);
    response.writeHead(200, { 'content-type': 'text/html' }).end(links.join('\n'));
  });
  /** Until so many pages have been fetched: more than by now. */
  const reached = async (size: number) => void (await once(fetches, `${size}`));
  return { url: await listen(server, 0), fetched, reached, stop: () => close(server) };
}

/** Gives the function of crawl_site so many seconds: too few for all pages. A run ends by the clock of this machine. */
export const lowerTimeout = (assembly: string, seconds: number): void =>
  changeAssembly(
    assembly,
    (path) => path.endsWith('.template.json'),
    (text) => text.replace('"Timeout": 900', `"Timeout": ${seconds}`),
  );
