import { verbsOn } from '../../bin/tasks/verbs.ts';
import { digits } from '../report/page.ts';
import type { Arm, Row } from '../report/row.ts';
import { interleaved, paired, quantile } from '../report/statistics.ts';
import { type GrowthClient, type GrowthWorld, startGrowthWorld } from './world.ts';

const ROUNDS = 40;
const RECORDS = [10, 1_000, 100_000];
const QUESTIONS = [1, 10, 100];
const BYTES = [1_000, 100_000, 1_000_000, 5_900_000];

/** What grows with what is stored, and what does not. */
export const growth: Arm = {
  title: 'Growth',
  about:
    `One owner with ${RECORDS.map(count).join(', ')} records in one table; tasks that ask ${QUESTIONS.join(', ')} questions; ` +
    'results of 1 KB to 5.9 MB, the largest being just under the bound of 6 MB. On the embedded cloud, over HTTP; each ' +
    'ratio is to the smallest of its kind.',
  async run() {
    const world = await startGrowthWorld();
    try {
      return [...(await records(world)), ...(await questions(world)), ...(await results(world))];
    } finally {
      await world.stop();
    }
  },
};

async function records(world: GrowthWorld): Promise<Row[]> {
  const owners: { readonly size: number; readonly client: GrowthClient; readonly taskId: string }[] = [];
  for (const size of RECORDS) {
    const client = world.client(`owner of ${size}`);
    const taskId = await client.create('returns', 10);
    await world.fill(taskId, size);
    owners.push({ size, client, taskId });
  }
  const kinds: Record<string, Record<string, () => Promise<number>>> = {
    'tasks/get': each(owners, ({ client, taskId }) => time(client, 'tasks/get', { taskId })),
    'tools/call, a new task': each(owners, ({ client }) =>
      time(client, 'tools/call', { name: 'returns', arguments: { n: 1 } }),
    ),
    'tasks/list, the first page of 50': each(owners, ({ client }) => client.list()),
  };
  const rows: Row[] = [];
  for (const [what, of] of Object.entries(kinds)) rows.push(...(await compared(`${what}: records`, RECORDS, of)));
  const asking = world.client('asks');
  for (let n = 0; n < 60; n++) await asking.ask('tools/call', { name: 'asks', arguments: { n: 1 } });
  return [...rows, await operatorsList(world), await operatorsList(world, '--status', 'completed')];
}

/** The first page of an operator: of the tasks that are open, or of a status. */
async function operatorsList({ cloud }: GrowthWorld, ...filters: string[]): Promise<Row> {
  const mark = cloud.calls.mark();
  const { tasks } = (await verbsOn(() => cloud)('list', ...filters, '--json')).json();
  const calls = cloud.calls.since(mark).filter(({ service }) => service === 'dynamodb');
  const units = calls.reduce((sum, { consumed }) => sum + (consumed?.table ?? 0) + (consumed?.index ?? 0), 0);
  const reads = (operation: string) => calls.filter((call) => call.operation === operation).length;
  return {
    what: `${['mcp-task-server tasks list', ...filters].join(' ')}, ${tasks.length} of ${count(RECORDS.reduce((sum, n) => sum + n))} tasks`,
    measured: `${reads('Query')} index pages, ${reads('BatchGetItem')} batch, ${digits(units)} read units`,
  };
}

async function questions(world: GrowthWorld): Promise<Row[]> {
  const client = world.client('asked');
  const tasks: { readonly size: number; readonly taskId: string }[] = [];
  for (const size of QUESTIONS) tasks.push({ size, taskId: await client.create('asks', size) });
  const of = each(tasks, ({ taskId }) => time(client, 'tasks/get', { taskId }));
  return compared('tasks/get while it asks: questions', QUESTIONS, of);
}

async function results(world: GrowthWorld): Promise<Row[]> {
  const client = world.client('results');
  const tasks: { readonly size: number; readonly taskId: string }[] = [];
  for (const size of BYTES) tasks.push({ size, taskId: await client.create('returns', size) });
  const of = each(tasks, ({ taskId }) => time(client, 'tasks/get', { taskId }));
  return compared('tasks/get, completed: bytes of the result', BYTES, of);
}

const time = async (client: GrowthClient, method: string, params: object) => (await client.ask(method, params)).ms;

function each<T extends { readonly size: number }>(
  list: readonly T[],
  run: (item: T) => Promise<number>,
): Record<string, () => Promise<number>> {
  return Object.fromEntries(list.map((item) => [count(item.size), () => run(item)]));
}

async function compared(
  what: string,
  sizes: readonly number[],
  kinds: Readonly<Record<string, () => Promise<number>>>,
): Promise<Row[]> {
  await interleaved(5, kinds);
  const samples = await interleaved(ROUNDS, kinds);
  const names = sizes.map(count);
  const base = samples[names[0] ?? ''] ?? [];
  return names.map((name, i) => ({
    what: `${what}: ${name}`,
    measured: `${digits(quantile(samples[name] ?? [], 0.5))} ms`,
    ...(i > 0 && { ratio: { ...paired(samples[name] ?? [], base), to: names[0] ?? '' } }),
  }));
}

function count(n: number): string {
  return n.toLocaleString('en');
}
