import { answerProblem } from '../tasks/questions/answer-problem.ts';
import { isQuestion, kindOf } from '../tasks/questions/question.ts';
import type { InputRequest, InputResponse, ToolEvent, ToolReturn } from '../tasks/tool-contract.ts';
import type { DefinedTool } from './define-tool.ts';
import type { Amount, RunContext } from './run-context.ts';

export interface RunOptions {
  /** The answers of the client, by the key of the question. A function gets the question. */
  readonly answers?: Readonly<Record<string, InputResponse | ((question: InputRequest) => InputResponse)>>;
  /** The kinds of questions that the caller accepts. @default all */
  readonly accepts?: readonly string[];
  /** Runs it as a direct call. @default as a task */
  readonly direct?: boolean;
  /** The round in which the client cancels: the run ends at its next report, step or question. @default never */
  readonly cancelInRound?: number;
}

export interface Ran {
  /** The final result of the tool. */
  readonly result: unknown;
  readonly rounds: number;
  /** Every progress message, in order. */
  readonly progress: readonly ({ readonly message: string } & Amount)[];
  /** Every question asked, by its key. */
  readonly asked: Readonly<Record<string, InputRequest>>;
}

const MOST_ROUNDS = 100;
const ALL = ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'];

/**
 * Runs a tool as the server would, round after round, without any cloud, for unit tests. It does not check arguments by a
 * JSON Schema.
 *
 * @example
 * const answers = { confirm: { action: 'accept', content: { ok: true } } };
 * const { result } = await runTool(handler, { file: 'a.txt' }, { answers });
 */
export async function runTool<Input>(
  handler: DefinedTool<Input>,
  args: NoInfer<Input>,
  options: RunOptions = {},
): Promise<Ran> {
  const progress: ({ message: string } & Amount)[] = [];
  const asked: Record<string, InputRequest> = {};
  let inputResponses: Record<string, InputResponse> = {};
  let requestState: unknown = null;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const context = fakeRunContext(progress, options.cancelInRound === round);
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
      inputResponses,
      requestState,
    };
    const returned = JSON.parse(JSON.stringify((await handler.runWith(event, context)) ?? null)) as ToolReturn;
    if (!asks(returned)) return { result: returned, rounds: round, progress, asked };
    const answers = Object.entries(returned.inputRequests).map(([key, question]) => {
      asked[key] = question;
      return [key, answer(key, question, options)] as const;
    });
    // A task keeps all answers; a direct call brings only the answers to the last questions.
    inputResponses = { ...(options.direct !== true && inputResponses), ...Object.fromEntries(answers) };
    requestState = returned.requestState ?? null;
  }
  throw new Error(`The tool still asks after ${MOST_ROUNDS} rounds`);
}

/** The answer of the test to one question. Throws if the server would refuse the question or the answer. */
function answer(key: string, question: InputRequest, { answers = {}, accepts = ALL }: RunOptions): InputResponse {
  const kind = kindOf(question);
  if (!accepts.includes(kind)) throw new Error(`The tool asked '${key}', but its caller does not accept ${kind}`);
  if (!isQuestion(question)) throw new Error(`The tool asked '${key}' in a form that the protocol does not have`);
  const given = answers[key];
  if (given === undefined) throw new Error(`The tool asked '${key}', and the test has no answer for it`);
  const response = typeof given === 'function' ? given(question) : given;
  const problem = answerProblem(question, response);
  if (problem !== undefined) throw new Error(`The test's answer to '${key}' would be refused: ${problem}`);
  return response;
}

function fakeRunContext(reports: ({ message: string } & Amount)[], cancelled: boolean): RunContext {
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
    keep: async (_task, result) => result,
  };
}

function asks(value: ToolReturn): value is { inputRequests: Record<string, InputRequest>; requestState?: unknown } {
  return typeof value === 'object' && value !== null && 'inputRequests' in value;
}
