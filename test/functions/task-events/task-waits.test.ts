import { afterEach, expect, test, vi } from 'vitest';
import type { Links } from '../../../functions/task-events/task-waits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { Wait } from '../../../functions/tasks/tool-contract.ts';
import { signalUrl } from '../../../functions/tasks/waits/signal-url.ts';
import { fresh, published, T0 } from './published.ts';

// The function reads them as it loads.
vi.hoisted(() => Object.assign(process.env, { EVENT_BUS: 'bus', SERVER_NAME: 'server', METRICS_BY_TOOL: 'true' }));
afterEach(() => vi.restoreAllMocks());

const KEY = 'key-of-the-task';
const UNTIL = T0 + 60_000;
const place = { url: 'https://mcp.example/signals', key: KEY };
const working: TaskRecord = { ...fresh, hookKey: KEY };
const link = { kind: 'link', until: UNTIL } as const;
/** The write that ends a round with these waits. */
const waits = (all: Readonly<Record<string, Wait>>, more: Partial<TaskRecord> = {}, before = working) =>
  [before, { ...before, status: 'waiting', waits: JSON.stringify(all), updatedAt: T0 + 5, ...more }] as const;

/** What is published of these writes. The notes of links are kept, as the table keeps them. */
async function linked(
  writes: Parameters<typeof published>[0],
  notes = new Map<string, string>(),
  putEvents?: Parameters<typeof published>[1],
  fails = false,
) {
  const links: Links = {
    url: place.url,
    async publishes({ taskId }, name, change) {
      if (fails) throw new Error('throttled');
      const key = `${taskId} ${name}`;
      if (!notes.has(key)) notes.set(key, change);
      return notes.get(key) === change;
    },
  };
  const { entries, details, ...rest } = await published(writes, putEvents, 0, true, undefined, [], links);
  const types = entries.map((entry) => (entry as { DetailType: string }).DetailType);
  return { ...rest, entries, types, links: details.filter((_detail, n) => types[n] === 'Task Waits') };
}

test('a link is published with its URL, after the change of the status', async () => {
  const { types, links, entries } = await linked([waits({ approval: link })]);
  expect(types).toEqual(['Task Status Change', 'Task Waits']);
  expect(links).toEqual([
    {
      version: '1',
      id: `t/${T0}/r1/waiting/approval`,
      server: 'S',
      taskId: 't',
      owner: 'owner#ann',
      tool: 'echo',
      wait: 'approval',
      url: signalUrl(place, 'approval'),
      until: new Date(UNTIL).toISOString(),
    },
  ]);
  expect(entries[1]).toMatchObject({ Source: 'mcp-task-server', Time: (T0 + 5) / 1_000 });
});

test('also beside a question to the client; an anonymous task names no owner', async () => {
  const { links } = await linked([
    waits({ approval: link }, { status: 'input_required', asked: '{}' }, { ...working, owner: 'task#t' }),
  ]);
  expect(links).toMatchObject([{ id: `t/${T0}/r1/input_required/approval`, wait: 'approval' }]);
  expect(links[0]).not.toHaveProperty('owner');
});

test('each link is published once, however many rounds wait for it, or deliveries come', async () => {
  const notes = new Map<string, string>();
  const first = waits({ a: link });
  const second = waits({ a: link, b: link }, { round: 2 }, { ...working, round: 2 });
  const ids = async (...writes: Parameters<typeof linked>[0]) =>
    (await linked(writes, notes)).links.map(({ id }) => id);
  expect(await ids(first)).toEqual([`t/${T0}/r1/waiting/a`]);
  expect(await ids(second)).toEqual([`t/${T0}/r2/waiting/b`]);
  // The same change again is the same event.
  expect(await ids(first, second)).toEqual([`t/${T0}/r1/waiting/a`, `t/${T0}/r2/waiting/b`]);
});

test.each<[string, Parameters<typeof linked>[0][number]]>([
  ['a webhook, whose URL is of another system', waits({ paid: { kind: 'webhook', until: UNTIL } })],
  ['a sleep', waits({ nap: { kind: 'time', until: UNTIL } })],
  ['a link that has its answer', waits({ approval: link }, { signalled: ['approval'] })],
  ['a task of an older release, which has no key', waits({ approval: link }, {}, fresh)],
  [
    'a signal that comes while it waits',
    [waits({ a: link })[1], { ...waits({ a: link })[1], signalled: ['b'], updatedAt: T0 + 9 }],
  ],
])('%s is not published', async (_what, write) => {
  expect((await linked([write])).links).toEqual([]);
});

test('without the prop no link is published, and the key of a task never', async () => {
  const { details, text } = await published([waits({ approval: link })]);
  expect(details).toHaveLength(1);
  expect(text + (await linked([waits({ approval: link })])).text).not.toContain(KEY);
});

test('a link that cannot be noted is published all the same: all owners wait for this', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const writes = [[undefined, { ...fresh, taskId: 'u' }] as const, waits({ a: link }), waits({ b: link })];
  const { failures, types, audit } = await linked(writes, new Map(), undefined, true);
  expect([failures, types.filter((type) => type === 'Task Waits').length, audit.length]).toEqual([[], 2, 3]);
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)).event)).toEqual(['links_failed', 'links_failed']);
});

test('a link that EventBridge refuses comes again, under the same id', async () => {
  const notes = new Map<string, string>();
  const refuse = async (some: readonly object[]) => some.map((_entry, n) => n > 0);
  const { failures, links } = await linked([waits({ a: link })], notes, refuse);
  expect([failures, links]).toEqual([['1'], []]);
  expect((await linked([waits({ a: link })], notes)).links).toMatchObject([{ id: `t/${T0}/r1/waiting/a` }]);
});

test('many links of a task are sent ten at a time, after the change of its status', async () => {
  const all = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`approver_${n}`, link]));
  const later = waits({ last: link }, { round: 2 }, { ...working, round: 2 });
  const sizes: number[] = [];
  const count = async (some: readonly object[]) => {
    sizes.push(some.length);
    return some.map(() => true);
  };
  const { types } = await linked([waits(all), later], new Map(), count);
  expect(sizes).toEqual([1, 10, 10, 1, 1]);
  const round = (links: number) => ['Task Status Change', ...Array(links).fill('Task Waits')];
  expect(types).toEqual([...round(20), ...round(1)]);

  const refuse = async (some: readonly object[]) => some.map((_entry, n) => n < 9);
  const { failures, types: sent } = await linked([waits(all), later], new Map(), refuse);
  expect([failures, sent]).toEqual([['1'], round(18)]);
});
