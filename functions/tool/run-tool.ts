import type { InputRequest, InputResponse, ToolEvent, ToolReturn } from './contract.ts';
import type { DefinedTool } from './define-tool.ts';
import type { Amount, Host } from './host.ts';
import type { InputSchema, StandardSchema } from './schema.ts';

export interface RunOptions {
  /** What the client answers, by the key of the question; a function sees the question. */
  readonly answers?: Readonly<Record<string, InputResponse | ((question: InputRequest) => InputResponse)>>;
  /** What the caller can be asked for. @default everything */
  readonly accepts?: readonly string[];
  /** Runs it as a direct call. @default as a task */
  readonly direct?: boolean;
  /** The round in which the client cancels: the run's signal aborts at its next report. @default never */
  readonly cancelInRound?: number;
}

export interface Ran {
  /** What the tool returned in the end. */
  readonly result: unknown;
  readonly rounds: number;
  /** Every progress message, in order. */
  readonly progress: readonly ({ readonly message: string } & Amount)[];
  /** Every question asked, by its key. */
  readonly asked: Readonly<Record<string, InputRequest>>;
}

const ALL = ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'];

/**
 * Runs a tool as the server would, round after round, without any cloud: for its author's unit tests.
 *
 * @example
 * const { result } = await runTool(handler, { file: 'a.txt' }, { answers: { confirm: { action: 'accept', content: { ok: true } } } });
 */
export async function runTool<I extends InputSchema>(
  handler: DefinedTool<I>,
  args: I extends StandardSchema<infer Input> ? Input : Readonly<Record<string, unknown>>,
  options: RunOptions = {},
): Promise<Ran> {
  const progress: ({ message: string } & Amount)[] = [];
  const asked: Record<string, InputRequest> = {};
  const inputResponses: Record<string, InputResponse> = {};
  let requestState: unknown = null;
  for (let round = 1; ; round++) {
    const host = fakeHost(progress, options.cancelInRound === round);
    const task = {
      taskId: 'test',
      owner: 'test',
      table: 'test',
      results: 'test',
      round,
      attempt: 0,
      deadline: Date.now() + 900_000,
    };
    const event: ToolEvent = {
      name: 'test',
      arguments: JSON.parse(JSON.stringify(args)),
      ...(options.direct !== true && { task }),
      accepts: options.accepts ?? ALL,
      inputResponses: { ...inputResponses },
      requestState,
    };
    const returned = JSON.parse(JSON.stringify((await handler.runWith(event, host)) ?? null)) as ToolReturn;
    if (!isQuestion(returned)) return { result: returned, rounds: round, progress, asked };
    for (const [key, question] of Object.entries(returned.inputRequests)) {
      asked[key] = question;
      inputResponses[key] = answer(key, question, options);
    }
    requestState = returned.requestState ?? null;
  }
}

function answer(key: string, question: InputRequest, { answers = {} }: RunOptions): InputResponse {
  const given = answers[key];
  if (given === undefined) throw new Error(`The tool asked '${key}', and the test has no answer for it`);
  return typeof given === 'function' ? given(question) : given;
}

function fakeHost(reports: ({ message: string } & Amount)[], cancelled: boolean): Host {
  let memory: string | undefined;
  return {
    async progress(_task, message, amount) {
      reports.push({ message, ...amount });
      return !cancelled;
    },
    alive: async () => !cancelled,
    async remember(_task, text) {
      memory = text;
      return !cancelled;
    },
    recall: async () => memory,
  };
}

function isQuestion(
  value: ToolReturn,
): value is { inputRequests: Record<string, InputRequest>; requestState?: unknown } {
  return typeof value === 'object' && value !== null && 'inputRequests' in value;
}
