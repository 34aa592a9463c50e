import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../proofs/fuzz/generate/random.ts';
import { type Client, type Lives, legacyClient, type ModernClient, modernClient, type Seen } from './client.ts';

/** What a client did, and the answers it got. */
export interface Story {
  readonly kind: keyof typeof scenarios;
  /** The name of its run in the file of runs. */
  readonly call: number;
  readonly taskIds: Set<string>;
  readonly client: Client;
  /** The ends that it saw. */
  readonly ends: Seen[];
  /** The acknowledged requests. */
  acknowledged?: 'answer' | 'cancel';
}

export interface Scene {
  readonly story: Story;
  readonly client: ModernClient;
  readonly random: Random;
  readonly folder: string;
  /** Makes the task; repeats the call if its outcome is unknown. */
  make(client: Client, name: string, args?: object): Promise<string>;
}

/** Longer than the test. */
const FOR_EVER = 600;
const think = (random: Random) => sleep(random.int(300));

async function work({ story, client, random, folder, make }: Scene, name: string): Promise<void> {
  const taskId = await make(client, name, { folder, call: story.call, ms: 500 + random.int(2_500) });
  story.ends.push(await client.wait(taskId));
}

export const scenarios = {
  async short({ story, client, make }: Scene) {
    const taskId = await make(client, 'short', { call: story.call });
    story.ends.push(await client.wait(taskId));
  },
  once: (scene: Scene) => work(scene, 'once'),
  repeat: (scene: Scene) => work(scene, 'repeat'),
  async ask({ story, client, random, make }: Scene) {
    const taskId = await make(client, 'ask');
    await client.asked(taskId);
    await think(random);
    await client.answer(taskId, { 'r1.confirm': { action: 'accept', content: { ok: true, call: story.call } } });
    story.acknowledged = 'answer';
    story.ends.push(await client.wait(taskId));
  },
  async cancel({ story, client, random, make }: Scene) {
    const asks = random.chance(0.5);
    const taskId = await make(client, asks ? 'ask' : 'machine', { seconds: FOR_EVER });
    await think(random);
    await client.cancel(taskId);
    story.acknowledged = 'cancel';
    // This task ends at once.
    story.ends.push(await client.read(taskId));
  },
  /** 2025-11-25: the connection is held until the end. */
  async result({ story, random, make }: Scene) {
    const taskId = await make(story.client, 'machine', { seconds: 1 + random.int(3) });
    story.ends.push(await story.client.wait(taskId));
  },
} as const;

const KINDS = Object.keys(scenarios) as (keyof typeof scenarios)[];

/** Plays one story after the other, the kinds in turn, until there are enough. */
export async function play(
  lives: Lives,
  random: Random,
  { folder, number, enough }: { folder: string; number: () => number; enough: () => boolean },
): Promise<Story[]> {
  const stories: Story[] = [];
  const client = modernClient(lives);
  const legacy = await legacyClient(lives);
  while (!enough()) {
    const call = number();
    const kind = KINDS[call % KINDS.length] ?? 'short';
    const story: Story = {
      ...{ kind, call, taskIds: new Set<string>(), ends: [] },
      client: kind === 'result' ? legacy : client,
    };
    stories.push(story);
    // Without a key, a call whose answer is lost may not be repeated if its run may happen only once.
    const keyed = kind === 'once' || kind === 'repeat' || random.chance(0.6);
    const make: Scene['make'] = async (by, name, args = {}) => {
      const key = keyed ? crypto.randomUUID() : undefined;
      for (let taskId: string | undefined; ; ) {
        taskId = await by.make(name, args, key);
        if (taskId === undefined) continue;
        story.taskIds.add(taskId);
        // A call that was answered may come again, too.
        if (key !== undefined && random.chance(0.2)) story.taskIds.add((await by.make(name, args, key)) ?? '');
        return taskId;
      }
    };
    await scenarios[kind]({ story, client, random, folder, make });
  }
  return stories;
}
