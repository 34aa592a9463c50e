import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Task, ToolEvent } from '../../functions/tool/index.ts';
import { clientConfig } from '../../local/test/fixture.ts';
import { toolFunction, useCloud } from '../support/cloud.ts';

// The clients of a run are made once, for the cloud of this file: test files share a process.
vi.hoisted(() => vi.resetModules());
const { defineTool, elicitForm } = await import('../../functions/tool/index.ts');

type TaskContext = NonNullable<ToolEvent['task']>;

/** A step, or a wait: then one of `sleep`, `link`, `webhook`, `map` and `until` has its name. */
interface Step {
  readonly name?: unknown;
  readonly sleep?: string;
  readonly link?: string;
  readonly webhook?: string;
  readonly map?: unknown;
  /** Of a sleep: ms since the epoch. */
  readonly until?: string | number;
  readonly seconds?: number;
  readonly message?: string;
  readonly fields?: Readonly<Record<string, { readonly type: 'boolean' }>>;
  readonly schema?: object;
  /** Waits for the signal, and does not only make the URL. */
  readonly wait?: true;
  readonly items?: readonly string[];
  readonly concurrency?: number;
  readonly finds?: readonly unknown[];
  readonly every?: number;
  readonly returns?: unknown;
  /** Errors that its work throws, one in each try, before it returns. */
  readonly throws?: readonly string[];
  /** A run that is played in the middle of the work. */
  readonly during?: Run;
  readonly dies?: true;
  readonly attempts?: number;
  readonly atMostOnce?: true;
  /** What the step returns; or why it is refused; or the name of its error; or how it is used wrongly. */
  readonly value?: unknown;
  readonly refused?: string;
  readonly error?: string;
  readonly usage?: string;
}
interface Run {
  readonly task?: Partial<TaskContext>;
  /** How many steps it brings from an earlier round, without a task. */
  readonly carries?: number;
  /** The time that its function has left at first, and then, in ms. */
  readonly left?: readonly number[];
  readonly signals?: ToolEvent['signals'];
  /** What its round ends with. @default a question */
  readonly ends?: Readonly<Record<string, object>>;
  readonly steps: readonly Step[];
}
interface Vector {
  readonly name: string;
  readonly direct?: true;
  /** Items that are there before, and what lies in S3 beside them. */
  readonly stored?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly runs: readonly Run[];
  /** The names of the steps whose work was begun, in order. */
  readonly done: readonly unknown[];
  /** What some items hold in the end. */
  readonly items?: Readonly<Record<string, object>>;
  /** What some values hold, among other members. */
  readonly parsed?: Readonly<Record<string, object>>;
  /** The place of its links, which has the key of its task in the end. */
  readonly place?: string;
}
interface Played {
  readonly ends?: object | null;
  readonly outcomes: readonly unknown[];
  readonly done: readonly string[];
  readonly requestState: unknown;
}
type Player = (run: Run & { readonly event: ToolEvent }) => Promise<Played>;

/** What both libraries promise. Python has the same names in its own spelling: see journal_player.py. */
const VECTORS: readonly Vector[] = JSON.parse(readFileSync('test/cloud/journal-vectors.json', 'utf8'));
const hasPython = spawnSync('python3', ['-c', 'import boto3']).status === 0;
const cloud = useCloud();
const administrator = () => DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud())));
const environment = () => ({
  AWS_ENDPOINT_URL: cloud().endpoint,
  AWS_REGION: cloud().region,
  AWS_DEFAULT_REGION: cloud().region,
  // With the rights of a tool, and no others.
  AWS_ACCESS_KEY_ID: toolFunction(),
  AWS_SECRET_ACCESS_KEY: 'test',
});

beforeAll(() => {
  for (const [name, value] of Object.entries(environment())) vi.stubEnv(name, value);
});
afterAll(() => {
  vi.unstubAllEnvs();
  python?.stdin.end();
});

/** A value that the vectors only describe. */
function meant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meant);
  if (typeof value !== 'object' || value === null) return value;
  const { times, text: part, code, levels } = value as Record<string, unknown>;
  if (times !== undefined) return String(part).repeat(Number(times));
  if (code !== undefined) return () => code;
  if (levels === undefined) return value;
  return JSON.parse('['.repeat(Number(levels)) + ']'.repeat(Number(levels)));
}

const inTypeScript: Player = async (run) => {
  const done: string[] = [];
  const died = Promise.withResolvers<Played>();
  const play = async ({ steps, event, left }: Parameters<Player>[0]): Promise<Played> => {
    const outcomes: unknown[] = [];
    const tool = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async (_args, task) => {
      for (const step of steps) outcomes.push(await outcomeOf(step, task, event));
      await task.requireInput({ end: elicitForm('End?', {}) });
    });
    const times = [...(left ?? [])];
    const lambda = { getRemainingTimeInMillis: () => (times.length > 1 ? times.shift() : times[0]) as number };
    const ended = (await tool(event, left && lambda)) as { text?: string; waits?: object; requestState?: unknown };
    const { requestState } = ended.text === undefined ? ended : JSON.parse(ended.text);
    return { outcomes, done, requestState, ends: ended.waits ?? null };
  };
  const outcomeOf = async (step: Step, task: Task, event: ToolEvent): Promise<object> => {
    const { attempts, atMostOnce, during } = step;
    const throws = [...(step.throws ?? [])];
    const work = async () => {
      done.push(String(meant(step.name)));
      if (during)
        await play({ ...during, event: { ...event, task: { ...event.task, ...during.task } as TaskContext } });
      if (step.dies) died.resolve({ outcomes: ['dies'], done, requestState: null });
      if (step.dies) await new Promise(() => {});
      const thrown = throws.shift();
      if (thrown !== undefined) throw Object.assign(new Error('no'), { name: thrown });
      return meant(step.returns);
    };
    const options = {
      ...(atMostOnce && { atMostOnce }),
      ...(attempts !== undefined && { retry: { attempts, backoff: 1 } }),
    };
    try {
      if (step.name === undefined) return { value: (await waited(step, task, done)) ?? null };
      return { value: await task.step(meant(step.name) as string, work, options) };
    } catch (error) {
      const { name, message } = error as Error;
      if (name === 'RoundEnd') throw error;
      if (message.startsWith('no')) return { error: name };
      if (name === 'ToolError') return { refused: message };
      return name === 'Error' ? { usage: message } : { error: name };
    }
  };
  return Promise.race([play(run), died.promise]);
};

/** What a wait of the vectors returns. */
async function waited(step: Step, task: Task, done: string[]): Promise<unknown> {
  const {
    sleep,
    link,
    webhook,
    map,
    until,
    message = '',
    fields = {},
    schema,
    wait,
    items = [],
    concurrency = 1,
    atMostOnce,
  } = step;
  const within = { seconds: step.seconds ?? 0 };
  if (sleep !== undefined) return task.sleep(sleep, until === undefined ? within : { until: Number(until) });
  if (link !== undefined) {
    const made = await task.link(link, elicitForm(message, fields), { within });
    return wait ? made.answer() : made.url;
  }
  if (webhook !== undefined) {
    const made = await task.webhook(webhook, { within, ...(schema && { schema }) });
    return wait ? made.received() : made.url;
  }
  if (map !== undefined) {
    const options = { concurrency, ...(atMostOnce && { atMostOnce, interrupted: (item: string) => `lost ${item}` }) };
    return task.map(meant(map) as string, items, (item) => done.push(item) && `page ${item}`, options);
  }
  const finds = [...(step.finds ?? [])];
  const check = () => {
    done.push(String(until));
    return (finds.length > 1 ? finds.shift() : finds[0]) ?? undefined;
  };
  return task.until(String(until), check, { every: { seconds: step.every ?? 1 }, within });
}

let python: ReturnType<typeof startPython> | undefined;
function startPython() {
  const env = {
    ...process.env,
    ...environment(),
    ...{ PYTHONPATH: 'functions/examples/python', PYTHONDONTWRITEBYTECODE: '1' },
  };
  const child = spawn('python3', ['test/cloud/journal_player.py'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  return { ...child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}
const inPython: Player = async (run) => {
  python ??= startPython();
  python.stdin.write(`${JSON.stringify(run)}\n`);
  return JSON.parse((await python.lines.next()).value ?? 'null');
};

/** A step of a vector without one of these ends its round. */
const OUTCOMES = ['value', 'refused', 'usage', 'error', 'dies'];

/** Tries each vector on a task of its own. @param playerOf who plays the run with this number */
async function play(
  { direct, stored = {}, runs, done, items = {}, parsed = {}, place }: Vector,
  playerOf: (n: number) => Player,
) {
  const [table = '', results = ''] = [cloud().tables[0], cloud().buckets[0]];
  const taskId = `t${crypto.randomUUID()}`;
  const task = { taskId, owner: 'o', table, results, round: 1, attempt: 0, envelope: 1, deadline: Date.now() + 60_000 };
  for (const [end, { object, ...item }] of Object.entries(stored)) {
    const expiresAt = Math.ceil(task.deadline / 1_000);
    const Item = { owner: 'progress#o', taskId: taskId + end, expiresAt, ...item };
    await administrator().send(new PutCommand({ TableName: table, Item }));
    if (object === undefined) continue;
    const Key = `steps/${createHash('sha256').update('o').digest('hex')}/${taskId}/${item.sha256}`;
    await new S3Client({ ...clientConfig(cloud()), forcePathStyle: true }).send(
      new PutObjectCommand({ Bucket: results, Key, Body: String(object) }),
    );
  }
  const ofPlace = { TableName: table, Key: { owner: `progress#signals#${place}`, taskId: '#task' } };
  await administrator().send(new DeleteCommand(ofPlace));
  const begun: string[] = [];
  let requestState: unknown = null;
  for (const [n, { task: at, carries, signals, ends, ...run }] of runs.entries()) {
    const steps = Object.fromEntries(Array.from({ length: carries ?? 0 }, (_, i) => [`${i}`, 0]));
    const event: ToolEvent = {
      ...{ name: 't', arguments: {}, accepts: ['elicitation/create'], inputResponses: {} },
      requestState: carries === undefined ? requestState : { steps },
      ...(!direct && { task: { ...task, ...at } }),
      ...(signals && { signals }),
    };
    const played = await playerOf(n)({ ...run, event });
    begun.push(...played.done);
    requestState = played.requestState;
    const ended = run.steps.filter((step) => OUTCOMES.some((outcome) => outcome in step));
    const expected = ended.map(({ dies, value, refused, error, usage }) => {
      if (dies) return 'dies';
      if (refused !== undefined) return { refused: expect.stringContaining(refused) };
      if (usage !== undefined) return { usage: expect.stringContaining(usage) };
      return error === undefined ? { value: meant(value) } : { error };
    });
    expect(played.outcomes).toEqual(expected);
    if (ends === undefined) expect(played.ends ?? null).toBeNull();
    else expect(played.ends).toMatchObject(ends);
  }
  expect(begun).toEqual(done.map(meant));
  const { Items = [] } = await administrator().send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: '#owner = :owner AND begins_with(taskId, :taskId)',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': 'progress#o', ':taskId': taskId },
    }),
  );
  for (const [end, item] of Object.entries(items)) {
    const { owner, taskId: _key, expiresAt, ...rest } = Items.find((one) => one.taskId === taskId + end) ?? {};
    expect(rest, end).toEqual(item);
    expect(expiresAt, end).toBeGreaterThan(task.deadline / 1_000 + 86_000);
  }
  for (const [end, value] of Object.entries(parsed)) {
    expect(JSON.parse(Items.find((one) => one.taskId === taskId + end)?.value ?? ''), end).toMatchObject(value);
  }
  if (place !== undefined) {
    const { Item } = await administrator().send(new GetCommand(ofPlace));
    expect(JSON.parse(Item?.value)).toEqual({ owner: 'o', taskId });
    expect(Item?.expiresAt).toBeGreaterThan(task.deadline / 1_000 + 86_000);
  }
  if (direct) expect(Items).toEqual([]);
}

describe.each(VECTORS)('$name:', (vector) => {
  test('in TypeScript', () => play(vector, () => inTypeScript));
  test.skipIf(!hasPython)('in Python', () => play(vector, () => inPython));
  test.skipIf(!hasPython || vector.runs.length === 1)('in both, in turn', async () => {
    await play(vector, (n) => (n % 2 === 0 ? inTypeScript : inPython));
    await play(vector, (n) => (n % 2 === 0 ? inPython : inTypeScript));
  });
});
