import { defineTool } from 'mcp-task-server/tool';

const MOST = 5_000;
const AT_ONCE = 20;

/** Fetches many pages in steps, for as long as it takes: a run that has used up its time goes on in the next one. */
export const handler = defineTool(
  {
    title: 'Crawl the site',
    description: `Fetches each page of the site of this server once, ${MOST} at most, and lists the broken links.`,
    taskSupport: 'required',
    inputSchema: {
      type: 'object',
      properties: { most: { type: 'integer', minimum: 1, maximum: MOST, default: MOST, description: 'Of pages.' } },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        pages: { type: 'integer', description: 'How many pages were fetched.' },
        broken: { type: 'array', items: { type: 'string' }, description: 'Links that lead to no page, and why.' },
      },
      required: ['pages', 'broken'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
  async ({ most = MOST }, task) => {
    const home = new URL('/', process.env.SITE_URL).href;
    const known = new Set([home]);
    const broken: string[] = [];
    for (let [depth, level] = [1, [home]]; level.length > 0; depth++) {
      await task.progress(`${known.size} pages known, ${depth} clicks away`);
      const pages = await task.map(`click ${depth}`, level, (url) => fetchPage(url, task.signal), {
        concurrency: AT_ONCE,
        atMostOnce: true,
        interrupted: () => ({ problem: 'a run died when it fetched it', links: [] }),
      });
      broken.push(...pages.flatMap(({ problem }, n) => (problem === undefined ? [] : `${level[n]}: ${problem}`)));
      const found = pages.flatMap(({ links }) => links).filter((url) => !known.has(url));
      level = [...new Set(found)].slice(0, most - known.size);
      for (const url of level) known.add(url);
    }
    return { pages: known.size, broken };
  },
);

/** Fetches a page and finds its links within the site. One that cannot be fetched is a finding, too, and not fetched again. */
async function fetchPage(url: string, signal: AbortSignal) {
  try {
    const response = await fetch(url, { redirect: 'manual', signal });
    const links = [...(await response.text()).matchAll(/<a\s[^>]*href="([^"#]+)/gi)].map(([, link = '']) => link);
    const moved = response.headers.get('location');
    const urls = [...links, ...(moved ? [moved] : [])].flatMap((link) => URL.parse(link, url) ?? []);
    const inSite = urls.filter(({ origin }) => origin === new URL(url).origin);
    const problem = response.status < 400 ? undefined : `status ${response.status}`;
    return { problem, links: inSite.map(({ href }) => href) };
  } catch {
    return { problem: 'no answer', links: [] };
  }
}
