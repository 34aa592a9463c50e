import { pbkdf2Sync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { storeIfLarge } from '../../../functions/tasks/results/large-result.ts';
import type { ToolEvent, ToolReturn } from '../../../functions/tasks/tool-contract.ts';
import { enveloped } from '../../../functions/tool/envelope.ts';
import { defineTool, elicitForm, reportProgress, StepInterrupted } from '../../../functions/tool/index.ts';

type Tool = (event: ToolEvent) => Promise<ToolReturn> | ToolReturn;

const elicit = (message: string, properties: object = { ok: { type: 'boolean' } }) => ({
  method: 'elicitation/create',
  params: {
    message,
    requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
  },
});
let invocations = 0;

/** Passes on each text that it gets: it reports, asks, remembers and returns it. */
async function confide({ arguments: args, inputResponses, task }: ToolEvent): Promise<ToolReturn> {
  await reportProgress(task, `working on ${args.word}`);
  if (inputResponses.confirm === undefined) {
    return { inputRequests: { confirm: elicit(`Really ${args.word}?`) }, requestState: { word: args.word } };
  }
  if (args.fails === true) throw new Error(`no ${args.word}`);
  return { word: args.word, answer: inputResponses.confirm };
}

/** Throws, under a name and in a way that its arguments may choose. Notes in a file that it ran. */
async function throws({ arguments: { file, name, way } }: ToolEvent): Promise<never> {
  if (file !== undefined) await appendFile(String(file), 'ran\n');
  const named = { ...(name !== undefined && { name }) };
  const error = Object.assign(new TypeError('planted-secret-in-message'), named);
  if (way === 'callback') setImmediate(() => raise(error));
  if (way === 'callback') await sleep(5_000);
  if (way === 'realm') throw Object.assign(runInNewContext('new Error("no")'), named);
  if (way === 'plain object') throw { ...named, message: 'no', stack: 'no' };
  throw error;
}

function raise(error: Error): never {
  throw error;
}

function askOnce({ inputResponses, requestState, task, caller }: ToolEvent): ToolReturn {
  const answer = inputResponses.confirm;
  if (answer !== undefined) return { answer, requestState, round: task?.round, caller };
  return { inputRequests: { confirm: elicit('Really?') }, requestState: { n: 9007199254740991 } };
}

/** Charges by appending to a file, so that a test in another process can count; crashes `crashes` times, works `ms` on. */
const chargeThenCrash = defineTool(
  {
    description: 'd',
    inputSchema: {
      type: 'object',
      properties: { file: { type: 'string' }, crashes: { type: 'integer' }, ms: { type: 'integer' } },
    },
  },
  async ({ file = '', crashes = 0, ms = 0 }, task) => {
    await task.step('charge', () => appendFile(file, 'charged\n'));
    if (task.attempt < crashes) process.exit(1);
    await sleep(ms);
    return { attempt: task.attempt };
  },
);

/** Returns the given JSON as a defined tool does: its text passes the workflow unchanged. */
const returnsExactly = defineTool(
  { description: 'd', inputSchema: { type: 'object', properties: { json: { type: 'string' } }, required: ['json'] } },
  ({ json }) => JSON.parse(json) as object,
);

/** Works without a report until its signal aborts, and notes that in a file. With `computes` it pauses for no time. */
const spin = defineTool(
  {
    description: 'd',
    inputSchema: { type: 'object', properties: { file: { type: 'string' }, computes: { type: 'boolean' } } },
  },
  async ({ file = '', computes = false }, task) => {
    while (!task.signal.aborted) {
      if (computes) pbkdf2Sync('', '', 20_000, 32, 'sha256');
      await (computes ? breathe() : sleep(10));
    }
    await appendFile(file, `stopped ${Date.now()}\n`);
    return null;
  },
);

/**
 * Gives its two URLs away as a line of `<file>.urls`, sleeps `nap` seconds, charges at most once by a line of `file`, and
 * waits for a person and another system, `seconds` at most. Each run notes in `<file>.firsts` which of them it finds the first.
 */
const chargeAndWait = defineTool(
  {
    description: 'd',
    inputSchema: {
      type: 'object',
      properties: {
        file: { type: 'string' },
        ...{ nap: { type: 'integer' }, polls: { type: 'integer' }, seconds: { type: 'integer' } },
      },
    },
  },
  async ({ file = '', nap = 0, polls = 0, seconds = 0 }, task) => {
    const form = elicitForm('Charge?', { name: { type: 'string' } });
    const approval = await task.link('approval', form, { within: { seconds } });
    const paid = await task.webhook('paid', { within: { seconds } });
    const urls = JSON.stringify({ taskId: task.id, approval: approval.url, paid: paid.url });
    await task.step('give away', () => appendFile(`${file}.urls`, `${urls}\n`));
    const times = { every: { seconds: nap }, within: { seconds: 2 * nap } };
    if (polls === 1) await task.until('nap', () => isSecondLook(`${file}.looks`), times);
    else await task.sleep('nap', { seconds: nap });
    const charged = await task.step('charge', () => charge(file), { atMostOnce: true }).catch(interrupted);
    const both = [approval.answer(), paid.received()] as const;
    const first = await Promise.race([both[0].then(() => 'approval'), both[1].then(() => 'paid')]);
    // Not in a step, which would keep what the first run has found.
    await appendFile(`${file}.firsts`, `${JSON.stringify({ taskId: task.id, first })}\n`);
    const [said, sent] = await Promise.all(both);
    return { charged, said, sent };
  },
);

async function isSecondLook(file: string): Promise<boolean> {
  const isSecond = existsSync(file);
  await appendFile(file, 'looked\n');
  return isSecond;
}

async function charge(file: string): Promise<boolean> {
  await appendFile(file, 'charged\n');
  return true;
}

function interrupted(error: unknown): boolean {
  if (error instanceof StepInterrupted) return false;
  throw error;
}

/** Small tools for tests: each does exactly what its arguments say. */
const tools: Record<string, Tool> = {
  echo: ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify(args) }], structuredContent: args }),
  caller: ({ caller = null }) => ({ caller }),
  direct_echo: ({ arguments: args, task, caller }) => ({ args, hadTask: task !== undefined, caller }),
  returns: ({ arguments: args }) => JSON.parse(String(args.json)) as ToolReturn,
  returns_exactly: (event) => returnsExactly(event) as Promise<ToolReturn>,
  async sleep({ arguments: args }) {
    await sleep(Number(args.ms));
    return `slept ${args.ms} ms`;
  },
  /** Works until the test makes a file. */
  async hold({ arguments: { file } }) {
    while (!existsSync(String(file))) await sleep(20);
    return 'released';
  },
  async steps({ arguments: args, task }) {
    for (let step = 1; step <= Number(args.steps); step++) {
      if (!(await reportProgress(task, `step ${step}`, { progress: step, total: Number(args.steps) })))
        return 'stopped';
      await sleep(1_050);
    }
    return 'done';
  },
  // For test/proofs/faults/random/app.ts: a wrapped tool with a result that is too large for its record.
  large: ({ arguments: args, task }) =>
    storeIfLarge({ n: args.n, filler: 'x'.repeat(140_000) }, task) as Promise<ToolReturn>,
  flaky({ arguments: { fails, tried } }) {
    if (Number(tried) < Number(fails)) throw Object.assign(new Error(`no answer to ${tried}`), { name: 'CardRefused' });
    return 'charged';
  },
  throws,
  direct_throws: throws,
  async brief({ arguments: { ms = 20_000, file, go } }) {
    await sleep(Number(ms));
    while (go !== undefined && !existsSync(String(go))) await sleep(20);
    if (file !== undefined) await appendFile(String(file), 'returned\n');
    return 'too late';
  },
  big: ({ arguments: args }) => 'x'.repeat(Number(args.bytes)),
  counter: () => ({ invocations: ++invocations }),
  event: (event) => ({ event }),
  confide,
  direct_confide: confide,
  ask: askOnce,
  ask_optional: askOnce,
  direct_ask: askOnce,
  ask_scoped: askOnce,
  ask_url({ inputResponses }) {
    if (inputResponses.login !== undefined) return { answer: inputResponses.login };
    const params = { mode: 'url', url: 'https://example.com/login', message: 'Log in' };
    return { inputRequests: { login: { method: 'elicitation/create', params } } };
  },
  ask_model({ inputResponses }) {
    if (inputResponses.poem !== undefined) return { answer: inputResponses.poem };
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'A poem' } }], maxTokens: 10 };
    return { inputRequests: { poem: { method: 'sampling/createMessage', params } } };
  },
  async charge_then_crash(event) {
    return chargeThenCrash(event) as Promise<ToolReturn>;
  },
  charge_and_wait: (event) => chargeAndWait(event) as Promise<ToolReturn>,
  charge_once(event) {
    return chargeThenCrash(event) as Promise<ToolReturn>;
  },
  spin: (event) => spin(event) as Promise<ToolReturn>,
  // For ./slow-schema-app.ts: only the time of the check matters.
  promises_slug: ({ arguments: args }) => args,
  promises_tree: ({ arguments: args }) => args,
  ask_first: ({ arguments: { text }, inputResponses, task }) => ({
    ...(text !== undefined && { bytes: String(text).length }),
    ...{ who: inputResponses.who, round: task?.round },
  }),
  broken_promise: () => ({ content: [], structuredContent: { n: 'not a number' } }),
  async slow_promise() {
    await sleep(2_500);
    return { n: 1 };
  },
  ask_two({ inputResponses }) {
    const { first, second } = inputResponses;
    if (first === undefined) return { inputRequests: { first: elicit('First?'), second: elicit('Second?') } };
    return { first, second };
  },
  ask_twice({ arguments: { text, word, more, fields }, inputResponses, requestState }) {
    if (requestState === null) {
      const same = elicit(word === undefined ? 'Once?' : `Once? ${word}`, fields as object | undefined);
      return { inputRequests: { same }, requestState: 'once' };
    }
    if (requestState === 'once') {
      const same = elicit(more === undefined ? 'Twice?' : `Twice? ${more}`);
      return { inputRequests: { same }, requestState: 'twice' };
    }
    return { last: inputResponses.same, ...(typeof text === 'string' && { bytes: text.length }) };
  },
};

const PLAIN = new Set([
  'flaky',
  'returns',
  'echo',
  'big',
  'broken_promise',
  'returns_exactly',
  'charge_then_crash',
  'charge_and_wait',
  'charge_once',
  'spin',
]);

export async function handler(event: ToolEvent): Promise<ToolReturn> {
  const tool = tools[event.name];
  if (tool === undefined) throw new Error(`No such test tool: ${event.name}`);
  const returned = await tool(event);
  // A function in any language may return this: the others are plain.
  return PLAIN.has(event.name) ? returned : (enveloped(event, returned) as ToolReturn);
}
