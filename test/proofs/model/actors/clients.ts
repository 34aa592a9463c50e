import { McpError } from '../../../../functions/tasks/errors.ts';
import { outstanding } from '../../../../functions/tasks/input.ts';
import { isTerminal } from '../../../../functions/tasks/transitions/change.ts';
import { createReader, type Reader, type Shown } from '../checks/reads.ts';
import { PLAIN, SKEW } from '../checks/writes.ts';
import type { Client, Step } from '../scenario.ts';
import type { Agenda } from '../simulation/agenda.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { Disconnected, requestOf } from './endpoint.ts';
import { sendSignal } from './signals.ts';

const SECOND = 1_000;
/** How often a client looks for a task to do something with. */
const WAITS = 5;

/** A client that does one step after the other, each when its turn comes. */
export async function runClient(client: Client, name: string, simulation: Simulation): Promise<void> {
  const readers = { reader: createReader(simulation.truth), streamReader: createReader(simulation.truth) };
  const actor = { ...client, name, simulation, ...readers, ...requestOf(simulation, name) };
  for (const step of client.steps) {
    await new Promise<void>((resolve) => simulation.agenda.add({ label: `${name} goes on`, act: () => resolve() }));
    try {
      await perform(step, actor);
    } catch (error) {
      // Told that it failed, or nothing: it goes on with something else.
      if (!(error instanceof McpError || error instanceof Disconnected)) throw error;
    }
  }
}

/** What is called under a key: the same key is the same call. */
const KEYED = {
  1: { tool: 'careful', plan: 1, asTask: true },
  2: { tool: 'first', plan: 2, asTask: true },
} as const;

type Follow = Extract<Step, { does: 'follow' }>;
interface Actor extends Client, ReturnType<typeof requestOf> {
  readonly name: string;
  readonly simulation: Simulation;
  readonly reader: Reader;
  /** What a stream tells of a task has another form. */
  readonly streamReader: Reader;
}

async function perform(step: Step, actor: Actor): Promise<void> {
  const { simulation } = actor;
  if (step.does === 'call') return call(step, actor);
  if (step.does === 'list') return list(actor);
  const { accepted, agenda } = simulation;
  for (let wait = 0; accepted.length === 0 && wait < WAITS; wait++) await later(agenda, 2 * SECOND);
  const taskId = accepted[step.task % Math.max(1, accepted.length)];
  if (taskId === undefined) return;
  switch (step.does) {
    case 'poll':
      return void (await poll(taskId, actor));
    case 'cancel':
      return cancel(taskId, actor);
    case 'answer':
      return answer(taskId, step.which, step.how, actor);
    case 'signal':
      return signal(taskId, step, actor);
    case 'follow':
      return follow(taskId, step, actor);
  }
}

async function call(step: Extract<Step, { does: 'call' }>, actor: Actor): Promise<void> {
  const { era, simulation } = actor;
  const { key, tries, ttl } = step;
  const legacy = era === 'legacy';
  const { tool, plan, asTask } = key === 0 ? step : KEYED[key];
  const _meta = {
    ...(key > 0 && { 'mcp-task-server/idempotencyKey': `key ${key}` }),
    ...(!asTask && { progressToken: PLAIN }),
  };
  const params = {
    ...{ name: tool, arguments: { plan }, _meta },
    ...(legacy && asTask && { task: { ...(ttl !== undefined && { ttl: ttl * SECOND }) } }),
    ...(!legacy && firstAnswers(tool)),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      const made = await actor.send(era, 'tools/call', params, asTask);
      const taskId = taskIdIn(made);
      if (taskId === undefined) return;
      simulation.tell(taskId);
      const task = simulation.truth.task(taskId);
      if (task !== undefined) task.promised = true;
      return;
    } catch (error) {
      const mayTryAgain = error instanceof Disconnected || (error instanceof McpError && error.code === -32603);
      if (!mayTryAgain || attempt >= tries) throw error;
    }
  }
}

/** A 2026-07-28 client has been asked already, and calls again with its answers. */
const firstAnswers = (tool: string) =>
  tool === 'first' ? { inputResponses: { sure: { action: 'accept', content: { ok: true } } } } : {};

/** Of a task that was made, in either revision. */
function taskIdIn(made: object): string | undefined {
  const { taskId, task } = made as { taskId?: string; task?: { taskId: string } };
  return taskId ?? task?.taskId;
}

async function poll(taskId: string, { era, send, reader, simulation }: Actor): Promise<Shown | undefined> {
  const { agenda } = simulation;
  const askedAt = agenda.now();
  const shown = await send(era, 'tasks/get', { taskId }).catch(unknown);
  reader(taskId, shown as Shown | undefined, askedAt, agenda.now());
  return shown as Shown | undefined;
}

/** The one error that says something about the task. */
function unknown(error: unknown): undefined {
  if (error instanceof McpError && error.message === 'Task not found') return undefined;
  throw error;
}

/** 2026-07-28 has no list: its client listens to all tasks. */
async function list(actor: Actor): Promise<void> {
  const { era, send, reader, simulation } = actor;
  if (era === 'modern') return listen(actor);
  const askedAt = simulation.agenda.now();
  const { tasks } = (await send(era, 'tasks/list', {})) as { tasks: Shown[] };
  for (const shown of tasks) {
    simulation.tell(shown.taskId);
    reader(shown.taskId, shown, askedAt, simulation.agenda.now());
  }
}

async function listen({ listen: open, streamReader, simulation }: Actor): Promise<void> {
  const { accepted, agenda, truth, faults } = simulation;
  const taskIds = [...accepted];
  let lookedAt = 0;
  /** Tasks that were over when the server began to look for the last time. */
  let over: readonly string[] = [];
  const told = new Map<string, Shown>();
  await open(taskIds, {
    looks() {
      lookedAt = agenda.now();
      over = taskIds.filter((taskId) => isTerminal(truth.task(taskId)?.record.status ?? 'working'));
    },
    told(shown) {
      streamReader(shown.taskId, shown, lookedAt, agenda.now());
      told.set(shown.taskId, shown);
    },
  });
  // A look that failed tells nothing, and the client listens again.
  if (faults.struck > 0) return;
  for (const taskId of over) {
    const { createdAt = 0, ttl = 0 } = truth.task(taskId)?.record ?? {};
    const last = told.get(taskId)?.status;
    if (lookedAt + SKEW < createdAt + ttl && !isTerminal(last ?? 'working'))
      truth.violated(`A stream shows an end before it is stored: ${taskId} was shown as ${last}`);
  }
}

async function cancel(taskId: string, { era, send, simulation }: Actor): Promise<void> {
  const task = simulation.truth.task(taskId);
  if (task !== undefined) task.cancelAsked = true;
  const answered = (await send(era, 'tasks/cancel', { taskId })) as { status?: string };
  simulation.checkCancelled(taskId, answered.status);
}

async function answer(taskId: string, which: number, how: 'accept' | 'wrong' | 'refuse', actor: Actor): Promise<void> {
  const { era, send, respond, simulation } = actor;
  const task = simulation.truth.task(taskId);
  if (task === undefined) return;
  // A 2025-11-25 client is asked on streams, which are not part of the model: it knows what it would have been asked.
  const shown = era === 'modern' ? (await poll(taskId, actor))?.inputRequests : outstanding(task.record);
  const keys = Object.keys(shown ?? {}).filter((_, i) => ((which >> i) & 1) === 1);
  const result = how === 'wrong' ? { action: 'maybe' } : { action: 'accept', content: { ok: true } };
  if (era === 'modern') {
    if (keys.length === 0) return;
    const inputResponses = Object.fromEntries(keys.map((key) => [key, result]));
    await send(era, 'tasks/update', { taskId, inputResponses });
    if (how !== 'wrong') simulation.checkAnswered(taskId, keys);
    return;
  }
  for (const key of keys) {
    if (how === 'refuse') task.refused = true;
    await respond(taskId, key, how === 'refuse' ? undefined : result);
    if (how === 'accept') simulation.checkAnswered(taskId, [key]);
  }
}

/** Sends a signal as soon as the tool has given a URL away, and once more if it gets no answer. */
async function signal(taskId: string, { which, operator }: Extract<Step, { does: 'signal' }>, actor: Actor) {
  const { name: from, simulation } = actor;
  const known = () => [...(simulation.truth.task(taskId)?.waits ?? [])].filter(([, { kind }]) => kind !== 'time');
  for (let wait = 0; known().length === 0 && wait < WAITS; wait++) await later(simulation.agenda, 2 * SECOND);
  const [name, wait] = known()[which % Math.max(1, known().length)] ?? [];
  if (name === undefined || wait === undefined) return;
  const send = () => sendSignal({ taskId, name, wait, from, operator }, simulation);
  await send().catch((error: unknown) => {
    if (!(error instanceof Disconnected)) throw error;
    return send();
  });
}

/** Polls, and answers what it is asked, until the task is over or it has lost interest. */
async function follow(taskId: string, { which, looks }: Follow, actor: Actor): Promise<void> {
  const { agenda } = actor.simulation;
  for (let look = 0; look < looks; look++) {
    try {
      const shown = await poll(taskId, actor);
      if (shown === undefined || !['working', 'input_required'].includes(shown.status)) return;
      if (shown.status === 'input_required') await answer(taskId, which, 'accept', actor);
    } catch (error) {
      if (!(error instanceof McpError || error instanceof Disconnected)) throw error;
    }
    await later(agenda, (look + 1) * 2 * SECOND);
  }
}

const later = (agenda: Agenda, ms: number) => new Promise<void>((resolve) => agenda.at(agenda.now() + ms, resolve));
