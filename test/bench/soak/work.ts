import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type Look, legacyClient, modernClient, NoAnswer } from '../../proofs/faults/random/client.ts';
import { isOver } from '../../proofs/faults/random/life.ts';
import type { PlannedTask } from '../../proofs/faults/random/plan.ts';
import { argumentsOf, isRight } from '../../proofs/faults/random/tools.ts';

export interface Work {
  /** What is not right, in words. */
  readonly wrong: readonly string[];
  /** Runs until it is told that it is over, and all tasks have ended. */
  run(isOver: () => boolean): Promise<void>;
  /** How many tasks have ended. */
  tasks(): number;
  /** How many tasks failed, by their reason. */
  failures(): ReadonlyMap<string, number>;
  line(): string;
}

/** How long a task may take, faults and all: a last write that is lost again and again waits for up to a minute. */
const LONGEST_MS = 120_000;
const PAUSE_MS = 60;
const TOOLS = ['echo', 'returns', 'sleep', 'charge_once', 'ask', 'ask_two', 'ask_twice'] as const;

/** @param clients how many work at the same time, every other one of the older revision @param folder for what they charge */
export async function createWork(url: string, clients: number, folder: string): Promise<Work> {
  const all = await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      const era: PlannedTask['era'] = i % 2 === 0 ? 'modern' : 'legacy';
      return { era, client: era === 'modern' ? modernClient(url) : await legacyClient(url) };
    }),
  );
  const wrong: string[] = [];
  const ended: Record<string, number> = {};
  const failures = new Map<string, number>();
  const begun = performance.now();
  let number = 0;
  const tasks = () => Object.values(ended).reduce((sum, count) => sum + count, 0);

  const taskOf = (era: PlannedTask['era']): PlannedTask => {
    number += 1;
    const tool = TOOLS[number % TOOLS.length] ?? 'echo';
    const args = tool === 'sleep' ? { ms: number % 100 } : tool === 'charge_once' ? { crashes: 0 } : { n: number };
    const plan = { afterMs: 0, keyed: true, cancelAfterMs: undefined, answers: 'at once' } as const;
    return { number, era, way: 'task', tool, args, ...plan };
  };
  const one = async (client: Client, task: PlannedTask): Promise<void> => {
    const key = randomUUID();
    const name = nameOf(task);
    const until = performance.now() + LONGEST_MS;
    const { taskId = '' } = await insist(until, () => client.make(task.tool, argumentsOf(task, folder), true, key));
    let look: Look = { status: 'working' };
    while (!isOver(look)) {
      if (performance.now() > until)
        return void wrong.push(`${name}: ${taskId} is ${look.status} after ${LONGEST_MS} ms`);
      look = await insist(until, () => client.look(taskId));
      if (look.status === 'input_required') await insist(until, () => client.answer(taskId));
      if (!isOver(look)) await sleep(PAUSE_MS);
    }
    ended[look.status] = (ended[look.status] ?? 0) + 1;
    if (look.status === 'completed' && !isRight(task, look.text)) wrong.push(`${name} came to ${JSON.stringify(look)}`);
    const { reason = 'no reason' } = look;
    if (look.status === 'failed') failures.set(reason, (failures.get(reason) ?? 0) + 1);
    if (look.status === 'cancelled') wrong.push(`${name} was cancelled by nobody`);
  };

  return {
    wrong,
    async run(isOver) {
      const worker = async ({ era, client }: (typeof all)[number]) => {
        while (!isOver()) {
          const task = taskOf(era);
          const tell = (error: unknown) => void wrong.push(`${nameOf(task)} got no right answer: ${error}`);
          await one(client, task).catch(tell);
        }
      };
      await Promise.all(all.map(worker));
    },
    tasks,
    failures: () => failures,
    line() {
      const rate = (tasks() / (performance.now() - begun)) * 1_000;
      const how = Object.entries(ended).map(([status, count]) => `${count} ${status}`);
      const why = [...failures].map(([reason, count]) => `${count} ${reason}`);
      const failed = why.length === 0 ? '' : `; failed: ${why.join(', ')}`;
      return `${tasks()} tasks (${how.join(', ')}), ${rate.toFixed(1)} a second${failed}`;
    },
  };
}

const nameOf = ({ number, era, tool }: PlannedTask) => `task ${number} (${era} ${tool})`;

/** Again, until there is an answer: whatever is asked here may be asked twice. */
async function insist<T>(until: number, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const lost = error instanceof NoAnswer || error instanceof TypeError;
      if (!lost || performance.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
