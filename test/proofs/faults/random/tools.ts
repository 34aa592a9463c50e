import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannedTask } from './plan.ts';

/** The arguments of the tools of test/support/apps/tools.ts, and how their tasks may end. */

const REPEATABLE = ['returns', 'charge_then_crash', 'large', 'charge_and_wait'];

/** Where a tool charges, and what it gives away besides. */
export const filesOf = (folder: string, { number }: PlannedTask) => join(folder, `charged-${number}`);

/** `folder` is where the charging tools charge. */
export function argumentsOf(task: PlannedTask, folder: string): object {
  if (task.tool === 'returns') return { json: JSON.stringify(task.args) };
  if (task.tool.startsWith('charge')) return { ...task.args, file: filesOf(folder, task) };
  return task.args;
}

export function chargesOf(task: PlannedTask, folder: string): number {
  try {
    return readFileSync(filesOf(folder, task), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/** Whether the tools that may be repeated run on Express: as test/support/apps/app.ts has it. */
export const isExpressApp = (): boolean => process.env.MCP_TEST_ENGINE === 'express';

/** May a run be repeated after it may have done something? As their annotations say. */
export const isRepeatable = ({ tool }: { tool: string }): boolean =>
  isExpressApp() ? tool !== 'charge_once' && !isDirect({ tool }) : REPEATABLE.includes(tool);

/** Runs on Express. */
export const isExpress = ({ tool }: { tool: string }): boolean => isExpressApp() && isRepeatable({ tool });

/** It never runs as a task. */
export const isDirect = ({ tool }: { tool: string }): boolean => tool.startsWith('direct_');

/** A text as it is kept and compared: a large one by its hash, of which a person can read what differs. */
export const brief = (text: string): string =>
  text.length < 1_000 ? text : `${text.length} ${createHash('sha256').update(text).digest('hex')}`;

export const asks = ({ tool }: PlannedTask): boolean => tool.startsWith('ask');

/** The one answer that all questions of these tools take. */
export const ANSWER = { action: 'accept', content: { ok: true, name: 'Ada' } };

const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  ask_two: ['first', 'second'],
  ask_twice: ['same'],
  ask_first: ['who'],
};

/** The same answer as an operator gives it, to each question of the tool. */
export const answersTo = (tool = ''): (readonly [question: string, answer: string])[] =>
  (QUESTIONS[tool] ?? ['confirm']).map((question) => [question, JSON.stringify(ANSWER)]);

/**
 * Whether this is what the tool returns, as the text of its result.
 *
 * @param again of a task that an operator ran again: it has the first answers from the beginning
 */
export function isRight(task: PlannedTask, text: string | undefined, again = false): boolean {
  const { tool, args } = task;
  if (tool === 'sleep') return text === `slept ${args.ms} ms`;
  if (tool === 'steps') return text === 'done';
  if (tool === 'throws') return false;
  if (tool === 'big') return text === brief('x'.repeat(args.bytes ?? 0));
  if (tool === 'large') return text === brief(JSON.stringify({ ...args, filler: 'x'.repeat(140_000) }));
  const value = parsed(text);
  // What it has waited for is judged apart.
  if (tool === 'charge_and_wait') return typeof value?.charged === 'boolean';
  // A run that surely never happened is repeated, too.
  if (tool.startsWith('charge')) return value?.attempt >= (args.crashes ?? 0);
  return JSON.stringify(value) === JSON.stringify(returned(tool, args, again));
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a tool returned.
function parsed(text: string | undefined): any {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

function returned(tool: string, args: PlannedTask['args'], again: boolean): unknown {
  if (tool === 'direct_echo') return { args, hadTask: false };
  if (tool === 'ask') return { answer: ANSWER, requestState: { n: 9007199254740991 }, round: 2 };
  if (tool === 'ask_two') return { first: ANSWER, second: ANSWER };
  if (tool === 'ask_twice') return { last: ANSWER };
  if (tool === 'ask_first') return { who: ANSWER, round: again ? 1 : 2 };
  return args;
}

/** How it ends when nothing goes wrong: the name of the error, or undefined for a result. */
export function natural({ tool, args }: PlannedTask): string | undefined {
  if (tool === 'throws') return 'TypeError';
  return tool === 'charge_once' && args.crashes === 1 ? 'Runtime.ExitError' : undefined;
}
