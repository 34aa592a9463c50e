import { MAX_TTL } from '../tasks/limits.ts';
import { answerProblem } from '../tasks/questions/answer-problem.ts';
import { kindOf, questionsProblem } from '../tasks/questions/question.ts';
import type { StoredJournal } from '../tasks/table/journal-items.ts';
import type {
  InputRequest,
  InputRequired,
  InputResponse,
  Signal,
  ToolEvent,
  ToolReturn,
} from '../tasks/tool-contract.ts';
import { clockOf } from './clock.ts';
import type { DefinedTool } from './define-tool.ts';
import { TaskEnded } from './errors.ts';
import type { FilesPort } from './files/port.ts';
import { memoryFiles, type TestFile } from './files/testing.ts';
import { type JournalPort, memoryJournal } from './journal/port.ts';
import type { Amount, RunContext } from './run-context.ts';
import { EndedRound } from './waits/ended-round.ts';
import { endFirst, type GivenSignal, skippingClock } from './waits/testing.ts';

export interface RunOptions {
  /**
   * The answers of the client, by the key of the question. A function gets the question. @default none
   * @example { sure: { action: 'accept', content: { ok: true } } }
   */
  readonly answers?: Readonly<Record<string, InputResponse | ((question: InputRequest) => InputResponse)>>;
  /** The kinds of questions that the caller accepts. @default all @example ['elicitation/create'] */
  readonly accepts?: readonly string[];
  /** Runs it as a direct call. @default as a task @example true */
  readonly direct?: boolean;
  /**
   * The round in which the client cancels: the run ends at its next report, step or question. @default never
   * @example 2
   */
  readonly cancelInRound?: number;
  /**
   * The results of steps that an earlier run has stored, by their names: the run does not do these. @default none
   * @example { pay: { receipt: 7 } }
   */
  readonly journal?: Readonly<Record<string, unknown>>;
  /**
   * The step after which the run dies, once its result is stored. The round starts again, as attempt 1. @default none
   * @example 'pay'
   */
  readonly crashAfter?: string;
  /**
   * What comes for links and webhooks, by their names, when the tool waits for it: an answer, or `{ body }`. `'timeout'`: none
   * comes, and their time is over. @default the test fails where the tool waits for one
   * @example { approval: { action: 'accept', content: { ok: true } }, trained: { body: { model: 'm1' } }, review: 'timeout' }
   */
  readonly signals?: Readonly<Record<string, GivenSignal>>;
  /** Sleeps end at once, and the tool finds their time passed. @default true @example false */
  readonly skipTime?: boolean;
}

export interface Ran {
  /** The final result of the tool. */
  readonly result: unknown;
  readonly rounds: number;
  /** Every progress message, in order. */
  readonly progress: readonly ({ readonly message: string } & Amount)[];
  /** Every question asked, by its key. */
  readonly asked: Readonly<Record<string, InputRequest>>;
  /** Every file that the tool has stored, by its name. */
  readonly files: Readonly<Record<string, TestFile>>;
}

const MOST_ROUNDS = 1_000;
const ALL = ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'];

/**
 * Runs a tool as the server would, round after round, without any cloud, for unit tests. It does not check arguments by a
 * JSON Schema. Throws an error that says what the server would refuse, and what the test has not given.
 *
 * @example
 * const answers = { confirm: { action: 'accept', content: { ok: true } } };
 * const { result } = await runTool(handler, { file: 'a.txt' }, { answers });
 *
 * @example
 * // The second run does not pay again.
 * await runTool(handler, { order: 7 }, { crashAfter: 'pay' });
 */
export async function runTool<Input>(
  handler: DefinedTool<Input>,
  args: NoInfer<Input>,
  options: RunOptions = {},
): Promise<Ran> {
  const { crashAfter, journal = {}, direct = false, skipTime = true } = options;
  const progress: ({ message: string } & Amount)[] = [];
  const asked: Record<string, InputRequest> = {};
  const table = memoryJournal(() => lastAmount(progress));
  for (const [name, value] of Object.entries(journal)) {
    await table.write(anyTask, { kind: 'step', name, value: JSON.stringify(value) ?? 'null' });
  }
  const files = memoryFiles();
  const clock = skipTime ? skippingClock() : clockOf();
  const deadline = clock.now() + MAX_TTL;
  let crashes = crashAfter !== undefined;
  // An earlier run has stored the given steps.
  let attempt = Object.keys(journal).length > 0 ? 1 : 0;
  let inputResponses: Record<string, InputResponse> = {};
  let requestState: unknown = null;
  const signals: Record<string, Signal> = {};
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const run = (): Promise<ToolReturn | EndedRound | typeof CRASH> => {
      const { context, crashed } = fakeRunContext(
        progress,
        { table, files },
        {
          cancelled: options.cancelInRound === round,
          crashAfter: crashes ? crashAfter : undefined,
        },
      );
      const event: ToolEvent = {
        name: 'test',
        arguments: JSON.parse(JSON.stringify(args)),
        ...(!direct && { task: { ...anyTask, round, attempt, deadline, envelope: 1, signals: PLACE } }),
        accepts: options.accepts ?? ALL,
        inputResponses,
        requestState,
        signals,
      };
      return Promise.race([handler.runWith(event, context, clock), crashed]);
    };
    let returned = await run();
    if (returned === CRASH) {
      crashes = false;
      attempt++;
      returned = await run();
    }
    attempt = 0;
    const ended = returned instanceof EndedRound ? returned : undefined;
    const plain = JSON.parse(JSON.stringify((ended === undefined ? returned : ended.asked) ?? null));
    if (ended === undefined && !asks(plain)) {
      if (crashes) throw new Error(`The tool stored no step '${crashAfter}', after which it would crash`);
      return { result: plain, rounds: round, progress, asked, files: files.all() };
    }
    const problem = asks(plain) ? questionsProblem((plain as InputRequired).inputRequests) : undefined;
    if (problem !== undefined) throw new Error(`The server would refuse what the tool asks: ${problem}`);
    const answers = Object.entries((plain as InputRequired).inputRequests ?? {}).map(([key, question]) => {
      asked[key] = question;
      return [key, answer(key, question, options)] as const;
    });
    // A task keeps all answers; a direct call brings only the answers to the last questions.
    inputResponses = { ...(!direct && inputResponses), ...Object.fromEntries(answers) };
    const open = Object.entries(ended?.waits ?? {}).map(async ([name, wait]) => {
      const { value: stored } = (await table.entry(anyTask, { kind: 'wait', name })) ?? {};
      return { name, wait, stored };
    });
    Object.assign(signals, await endFirst(await Promise.all(open), clock, options.signals));
    requestState = plain.requestState ?? null;
  }
  throw new Error(`The tool still asks or waits after ${MOST_ROUNDS} rounds`);
}

/** The answer of the test to one question. Throws if the server would refuse it. */
function answer(key: string, question: InputRequest, { answers = {}, accepts = ALL }: RunOptions): InputResponse {
  const kind = kindOf(question);
  if (!accepts.includes(kind)) throw new Error(`The tool asked '${key}', but its caller does not accept ${kind}`);
  const given = answers[key];
  if (given === undefined) throw new Error(`The tool asked '${key}', and the test has no answer for it`);
  const response = typeof given === 'function' ? given(question) : given;
  const problem = answerProblem(question, response);
  if (problem !== undefined) throw new Error(`The test's answer to '${key}' would be refused: ${problem}`);
  return response;
}

/** What the URLs of links and webhooks are made of in tests. */
const PLACE = { url: 'https://server.example/signals', key: 'test' };
const CRASH = Symbol('The run died');
const anyTask = { taskId: 'test', owner: 'test', table: 'test', results: 'test', round: 1, attempt: 0, deadline: 0 };

interface Fate {
  readonly cancelled: boolean;
  readonly crashAfter: string | undefined;
}

/** The outside of one run, and a promise that is kept when it dies. A dead run reaches nothing any more. */
function fakeRunContext(
  reports: ({ message: string } & Amount)[],
  { table, files }: { readonly table: JournalPort; readonly files: FilesPort },
  { cancelled, crashAfter }: Fate,
): { readonly context: RunContext; readonly crashed: Promise<typeof CRASH> } {
  const { promise: crashed, resolve: crash } = Promise.withResolvers<typeof CRASH>();
  let dead = false;
  const never = new Promise<never>(() => {});
  const context: RunContext = {
    async progress(_task, message, amount) {
      if (dead) return never;
      reports.push({ message, ...amount });
      return !cancelled;
    },
    // The work of a dead run ends by its signal.
    alive: async () => !cancelled && !dead,
    journal: {
      ...table,
      async write(task, entry, before) {
        if (dead) return never;
        if (cancelled) throw new TaskEnded();
        const written = await table.write(task, entry, before);
        if (entry.kind === 'step' && entry.name === crashAfter && entry.begun === undefined) {
          dead = true;
          crash(CRASH);
        }
        return dead ? never : written;
      },
    },
    files: { ...files, add: async (task, file) => (dead ? never : files.add(task, file)) },
    keep: async (_task, result) => (dead ? never : result),
  };
  return { context, crashed };
}

function lastAmount(reports: readonly Amount[]): StoredJournal['reported'] {
  const { progress, total } = reports.at(-1) ?? {};
  return progress === undefined ? undefined : { progress, ...(total !== undefined && { total }) };
}

const asks = (value: unknown): boolean => typeof value === 'object' && value !== null && 'inputRequests' in value;
