import { setImmediate as turn } from 'node:timers/promises';
import type { Signal } from '../../../functions/tasks/tool-contract.ts';
import { elicitForm, type Task } from '../../../functions/tool/index.ts';
import { createRandom } from '../../../local/testing.ts';
import { SECOND, waitingTask } from '../../functions/tool/waits/support.ts';

type Kind = 'work' | 'ask' | 'nap' | 'night' | 'until' | 'link' | 'race' | 'file' | 'step' | 'map' | 'all';
/** One thing that a random tool does. */
interface Act {
  readonly kind: Kind;
  readonly name: string;
  /** What is inside: of several branches for `all`. */
  readonly inner: readonly (readonly Act[])[];
  readonly items: number;
  readonly concurrency: number;
  /** Its first try fails. */
  readonly retries: boolean;
  readonly atMostOnce: boolean;
}

const OUTER: readonly Kind[] = [
  'step',
  'step',
  'step',
  'map',
  'ask',
  'nap',
  'night',
  'link',
  'race',
  'file',
  'all',
  'until',
  'work',
];
const INNERMOST: readonly Kind[] = ['work', 'ask', 'file'];
const WAITS: readonly Kind[] = ['ask', 'nap', 'night', 'until', 'link', 'race'];
const HOUR = 3_600_000;
const MOST_ROUNDS = 60;

const waits = (acts: readonly Act[]): boolean =>
  acts.some(({ kind, inner }) => WAITS.includes(kind) || inner.some(waits));
const sure = { ok: elicitForm('Sure?', {}) };
const accepts = { action: 'accept', content: {} } as const;

/**
 * Plays a random tool, round after round, without a crash: branches side by side of nested steps, maps, files, questions and waits, with
 * answers and time limits at random. Returns what is wrong: a step without a wait inside that is done twice, a race that takes both
 * ways, an error, or a round that ends with nothing to wait for.
 *
 * @param plant changes what the tool gets: a bug that has to be found
 */
export async function playRandomTool(seed: number, plant: (task: Task) => Task = (task) => task): Promise<string[]> {
  const { number: random } = createRandom(String(seed));
  const below = (most: number): number => Math.floor(random() * most);
  const pause = async (turns: number) => {
    for (let n = 0; n < turns; n++) await turn();
  };
  function acts(depth: number, path: string): Act[] {
    const kinds = depth > 2 ? INNERMOST : OUTER;
    return Array.from({ length: 1 + below(3) }, (_, n) => {
      const kind = kinds[below(kinds.length)] ?? 'work';
      const name = `${path}${n}`;
      const deeper = { step: [1], map: [2], all: [1, 1] }[kind as string] ?? [];
      const inner = deeper.map((more, branch) => acts(depth + more, `${name}${'ab'[branch]}`));
      const [retries, once] = [random() < 0.3, random() < 0.4];
      const atMostOnce = once && !retries && !inner.some(waits);
      return { kind, name, inner, items: 1 + below(3), concurrency: 1 + below(3), retries, atMostOnce };
    });
  }
  const branches = Array.from({ length: 2 + below(2) }, (_, n) => acts(0, 'ABC'[n] ?? ''));
  const problems: string[] = [];
  const done = new Map<string, number>();
  const won = new Map<string, string>();
  const count = (name: string): number => done.set(name, (done.get(name) ?? 0) + 1).get(name) ?? 0;

  async function act(task: Task, { kind, name: own, inner, ...more }: Act, item: string): Promise<unknown> {
    const name = own + item;
    const [first = []] = inner;
    if (kind === 'work') return pause(below(15));
    if (kind === 'ask') return task.requireInput(sure);
    if (kind === 'nap') return task.sleep(name, { seconds: 3 });
    if (kind === 'night') return task.sleep(name, { hours: 2 });
    if (kind === 'until')
      return task.until(name, () => count(name) > 2, { every: { seconds: 20 }, within: { days: 2 } });
    if (kind === 'link') return (await task.link(name, sure.ok, { within: { days: 1 } })).answer();
    if (kind === 'file') return task.file(name, 'x');
    if (kind === 'all') return Promise.all(inner.map((branch) => all(task, branch, item)));
    if (kind === 'race') {
      const { received } = await task.webhook(name, { within: { days: 1 } });
      const sleeps = task.sleep(`${name} late`, { hours: 1 });
      const way = await Promise.race([received().then(() => 'webhook'), sleeps.then(() => 'sleep')]);
      return task.step(`${name} ${way}`, () => {
        if ((won.get(name) ?? way) !== way) problems.push(`race ${name}: both ways`);
        won.set(name, way);
      });
    }
    if (kind === 'map') {
      const work = async (n: number) => {
        await pause(below(6));
        return all(task, first, `${item}_${n}`);
      };
      return task.map(
        name,
        Array.from({ length: more.items }, (_, n) => n),
        work,
        more,
      );
    }
    const work = async () => {
      const times = count(name);
      if (times > 1 && !more.retries && !waits(first)) problems.push(`step ${name}: done ${times} times`);
      await pause(below(30));
      const found = await all(task, first, item);
      if (more.retries && count(`${name} fails`) === 1) throw new Error('The first try fails');
      return found;
    };
    const { atMostOnce } = more;
    return task.step(name, work, more.retries ? { retry: { attempts: 3, backoff: 1 } } : { atMostOnce });
  }
  async function all(task: Task, list: readonly Act[], item: string): Promise<null> {
    for (const one of list) await act(task, one, item);
    return null;
  }

  const server = { signals: { url: 'https://mcp.example/signals', key: 'k' } };
  const { next, clock } = waitingTask((task) => Promise.all(branches.map((list) => all(plant(task), list, ''))));
  const given = {
    inputResponses: {} as Record<string, unknown>,
    signals: {} as Record<string, Signal>,
    requestState: null as unknown,
  };
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    clock.rest = random() < 0.3 ? below(20) * SECOND : 900 * SECOND;
    const ended = await next(given as never, server).catch((error: Error) => ({ result: error }));
    const { result, waits: open = {}, ...asked } = ended as Awaited<ReturnType<typeof next>> & Record<string, object>;
    if (result instanceof Error) problems.push(`${result.name}: ${result.message}`);
    if ('result' in ended) return problems;
    const questions = Object.keys(asked.inputRequests ?? {});
    if (questions.length + Object.keys(open).length === 0) return [...problems, `round ${round} waits for nothing`];
    given.requestState = asked.requestState;
    for (const name of questions) given.inputResponses[name] = accepts;
    const times = Object.values(open).flatMap((wait) => ('until' in wait ? wait.until : []));
    if (questions.length === 0 && random() < 0.7)
      clock.time = Math.max(clock.time, Math.min(...times, clock.time + 48 * HOUR) + below(2) * HOUR);
    else if (random() < 0.3) clock.time += 2 * HOUR;
    for (const [name, wait] of Object.entries(open)) {
      const at = clock.time;
      if (wait.kind === 'link' && random() < 0.7) given.signals[name] ??= { ...accepts, at, by: '' } as Signal;
      if (wait.kind === 'webhook' && random() < 0.5) given.signals[name] ??= { body: 1, at } as Signal;
      if ('until' in wait && wait.until <= at && wait.kind !== 'time') given.signals[name] ??= { timedOut: true };
    }
  }
  return [...problems, 'too many rounds'];
}
