import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Life } from './life.ts';
import type { PlannedTask } from './plan.ts';
import { filesOf } from './tools.ts';

/** The people and the system that a task of `charge_and_wait` waits for. */

export const WAITS = ['approval', 'paid'] as const;
type Wait = (typeof WAITS)[number];

/** A signal that was sent. */
export interface Sent {
  readonly taskId: string;
  readonly wait: Wait;
  readonly value: string;
  /** Undefined: there was no answer. */
  readonly status: number | undefined;
}

const TRIES = 4;
const LOOKS = 30;
const PAUSE_MS = 40;
/** The statuses that a signal may get: taken, over, too many requests, an outage. */
const ANSWERS = [200, 204, 303, 410, 429, 500, 502, 503, 504];

const isTaken = (status: number | undefined): boolean => status !== undefined && status < 400;

/** The value of each wait in the result of the tool: `null` if its time was over. */
export function valuesIn(
  text: string | undefined,
): Readonly<Record<Wait, string | null | undefined>> & { charged?: boolean } {
  try {
    const { said, sent, charged } = JSON.parse(text ?? '{}');
    const approval = said?.timedOut === true ? null : said?.content?.name;
    const paid = sent?.timedOut === true ? null : sent?.body?.value;
    return { approval, paid, charged };
  } catch {
    return { approval: undefined, paid: undefined };
  }
}

/** The lines that the tool has written: every URL that it has given away, or what its runs found to come first, by task. */
function linesOf<T>(task: PlannedTask, folder: string, end: 'urls' | 'firsts'): (T & { readonly taskId: string })[] {
  try {
    const lines = readFileSync(`${filesOf(folder, task)}.${end}`, 'utf8').split('\n');
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

/** One wait, and where it is answered. A URL does not tell the id of its task. */
interface Given {
  readonly taskId: string;
  readonly wait: Wait;
  readonly url: string;
}

async function send(life: Life, { taskId, wait, url }: Given, value: string): Promise<void> {
  const body = wait === 'paid' ? { value } : { action: 'accept', content: { name: value } };
  for (let tries = 0; tries < TRIES; tries++) {
    const status = await post(url, body);
    life.sent.push({ taskId, wait, value, status });
    if (status !== undefined && !ANSWERS.includes(status)) life.wrong.push(`a signal of '${wait}' got HTTP ${status}`);
    if (isTaken(status) || status === 410) return;
    await sleep(PAUSE_MS);
  }
}

async function post(url: string, body: object): Promise<number | undefined> {
  try {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const signal = AbortSignal.timeout(4_000);
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
      redirect: 'manual',
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

/** What all who are waited for send, some of them twice, two people at once. Nothing for whom the plan keeps silent. */
export async function signalAll(life: Life, folder: string, looks = LOOKS): Promise<boolean> {
  const { task } = life;
  if (task.tool !== 'charge_and_wait' || task.answers === 'never') return false;
  const begun = life.sent.length;
  for (let look = 0; look < looks; look++) {
    const urls = linesOf<Readonly<Record<Wait, string>>>(task, folder, 'urls');
    if (urls.length === 0) {
      await sleep(PAUSE_MS);
      continue;
    }
    const people = task.answers === 'twice at once' ? ['Ada', 'Bob'] : ['Ada'];
    const open = urls.flatMap((all) => WAITS.map((wait) => ({ taskId: all.taskId, wait, url: all[wait] })));
    const unknown = open.filter(({ taskId, wait }) => !isKnown(life, taskId, wait));
    const sooner = task.apart ? unknown.filter(({ wait }) => wait === 'paid') : [];
    const left = sooner.length > 0 ? sooner : unknown;
    await Promise.all(left.flatMap((given) => people.map((value) => send(life, given, value))));
    break;
  }
  return life.sent.length > begun;
}

/** Whether its sender knows how a wait ended: its signal is taken, or it is over. */
const isKnown = ({ sent }: Life, taskId: string, wait: Wait): boolean =>
  sent.some((one) => one.taskId === taskId && one.wait === wait && (isTaken(one.status) || one.status === 410));

/** Whether a run has stored both waits, and told their URLs. */
export const hasGivenAway = (task: PlannedTask, taskId: string, folder: string): boolean =>
  linesOf(task, folder, 'urls').some((line) => line.taskId === taskId);

/** What is wrong with the signals in the result of a task. */
export function signalProblems({ sent }: Life, taskId: string, text: string | undefined): string[] {
  const values = valuesIn(text);
  return WAITS.flatMap((wait) => {
    const all = sent.filter((one) => one.taskId === taskId && one.wait === wait);
    const taken = new Set(all.filter(({ status }) => isTaken(status)).map(({ value }) => value));
    const value = values[wait];
    if (value === undefined) return [`its result has no signal of '${wait}'`];
    if (taken.size > 1) return [`'${wait}' has taken ${[...taken].join(' and ')}`];
    if (value === null) return taken.size === 0 ? [] : [`'${wait}' has taken a signal, and timed out`];
    if (!all.some((one) => one.value === value)) return [`'${wait}' is ${value}, which was never sent`];
    return taken.size === 1 && !taken.has(value) ? [`'${wait}' is ${value}, and has taken ${[...taken][0]}`] : [];
  });
}

/** What is wrong with the runs of a task: the wait that comes first in one of them comes first in each. */
export function raceProblems({ task }: Life, taskId: string, folder: string): string[] {
  const lines = linesOf<{ readonly first: Wait }>(task, folder, 'firsts').filter((line) => line.taskId === taskId);
  const firsts = [...new Set(lines.map(({ first }) => first))];
  return firsts.length > 1 ? [`its runs found ${firsts.join(', and later ')} to come first`] : [];
}
