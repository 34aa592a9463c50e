import { expect, test } from 'vitest';
import { readPage } from './pages.ts';

const PAGES = ['mcp-task-server', 'mcp-task-server/client', 'mcp-task-server/testing', 'mcp-task-server/tool-1'];

interface Prop {
  /** The interface and the prop, as the page writes them. */
  readonly name: string;
  /** The interfaces of its type. */
  readonly links: readonly string[];
  readonly text: string;
}

/** The props of each interface of the API, by the anchor of the interface. */
const interfaces = new Map<string, readonly Prop[]>(
  PAGES.flatMap((page) => {
    const [, section = ''] = readPage(`docs/api/${page}.md`).split(/^## Interfaces$/m);
    const [all = ''] = section.split(/^## /m);
    return all.split(/^### /m).map((text) => {
      const name = /^\w+/.exec(text)?.[0] ?? '';
      return [`${page}#${name.toLowerCase()}`, propsIn(text, page, name)] as const;
    });
  }),
);

function propsIn(text: string, page: string, of: string): Prop[] {
  const rows = [...text.matchAll(/^\| <a id="property-[^"]+"><\/a> `(\w+\??)` \| [^|]* \| (.*) \|$/gm)];
  // The type `undefined` says that the prop cannot be given.
  const given = rows.filter(([, , cells = '']) => !cells.startsWith('`undefined` |'));
  return given.map(([, prop, cells = '']) => {
    const links = [...cells.matchAll(/\]\(([\w/-]*)(?:\.md)?(#\w+)\)/g)];
    const pageOf = (path = '') => PAGES.find((one) => path !== '' && one.endsWith(path)) ?? page;
    return { name: `${of}.${prop}`, text: cells, links: links.map(([, path, id]) => `${pageOf(path)}${id}`) };
  });
}

/** The props that users write: of options, and of the interfaces that options name. */
function writtenByUsers(): Prop[] {
  const names = [...interfaces.keys()].filter((id) => /(props|options|definition|registration)$/.test(id));
  const seen = new Set(names);
  for (const id of seen) for (const { links } of interfaces.get(id) ?? []) for (const link of links) seen.add(link);
  return [...seen].flatMap((id) => interfaces.get(id) ?? []);
}

test('each prop that users write has an example, and a default if it is optional', () => {
  const props = writtenByUsers();
  expect(props.length).toBeGreaterThan(100);
  const needs = ({ name }: Prop) => ['**Example**', ...(name.endsWith('?') ? ['**Default**'] : [])];
  const missing = props.flatMap((prop) =>
    needs(prop).flatMap((tag) => (prop.text.includes(tag) ? [] : [`${prop.name}: ${tag}`])),
  );
  expect(missing).toEqual([]);
});

test.each(PAGES)('each function in docs/api/%s.md has an example', (page) => {
  const [, functions = ''] = readPage(`docs/api/${page}.md`).split(/^## Functions$/m);
  const sections = functions.split(/^### /m).slice(1);
  expect(sections.filter((text) => !/^#### Examples?$/m.test(text)).map((text) => text.split('\n')[0])).toEqual([]);
});
