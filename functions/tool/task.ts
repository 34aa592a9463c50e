import type { Caller, FileLink } from '../tasks/tool-contract.ts';
import type { FileBody, FileOptions } from './files/body.ts';
import type { MapOptions } from './journal/map.ts';
import type { StepOptions } from './journal/step.ts';
import type { AnswerOf, Question } from './questions.ts';
import type { Amount } from './run-context.ts';
import type { InputSchema } from './schema.ts';
import type { Duration, Until } from './waits/duration.ts';
import type { BodyOf, FormQuestion, Link, TimedOut, Webhook, WebhookOptions, Within } from './waits/signals.ts';
import type { Check, Polling } from './waits/waits.ts';

/** The context of a run, in a task and in a direct call. */
export interface Task {
  /** The id of the task; undefined in a direct call. */
  readonly id: string | undefined;
  /** The round: 1, then one more each time the work goes on from the top: after answers, a sleep, or in a new run. */
  readonly round: number;
  /** The attempt: 0, then one more for each retry of a round. On Express a round that starts again is at 0, too. */
  readonly attempt: number;
  /**
   * The time when the server gives up the work, in milliseconds since the epoch; undefined in a direct call. On Express the end of
   * this run, if that is sooner. The function of a run may have less time.
   */
  readonly deadline: number | undefined;
  /** The trace of the call that created the task (W3C Trace Context), if it named one. Pass it to the services you call. */
  readonly traceparent: string | undefined;
  /** Aborted soon after the task was cancelled, given up or superseded. Pass it to every call that takes a signal. */
  readonly signal: AbortSignal;
  /** Who called the tool, as far as the server knows: empty for an anonymous caller. */
  readonly caller: Caller;
  /** The kinds of questions that the caller accepts, as in the contract. */
  readonly accepts: readonly string[];
  /**
   * Reports the progress of the task, at most once a second. A run that repeats what an earlier one has reported, with a
   * smaller `progress` of the same `total`, reports once it has caught up. Throws TaskEnded when the task is over.
   */
  progress(message: string, amount?: Amount): Promise<void>;
  /**
   * Asks the client and returns the answers, by the same keys. The run ends here. When all answers have arrived, it
   * starts again from the top: so ask before work that must happen once, or do that work in a `step`. Each answer fits
   * its question; if not, the client is asked again.
   */
  requireInput<Q extends Readonly<Record<string, Question<unknown>>>>(
    questions: Q,
  ): Promise<{ [K in keyof Q]: AnswerOf<Q[K]> }>;
  /**
   * Sets a variable, which later rounds keep, and retries if a step finished after it. At most 100 KB in all, depth 10,
   * strings of 64 KB.
   */
  setVariable(name: string, value: unknown): void;
  /** Gets a variable. On Express, values set by a lost run appear after the first `step`. */
  getVariable<T = unknown>(name: string): T | undefined;
  /**
   * Does work once for all rounds and retries: its result is stored, and a later run gets it as JSON keeps it. If two runs do
   * it at the same time, the result that is stored first counts in both. If the work throws, nothing is stored. Each step of a
   * run needs a different name, of 1 to 64 characters.
   *
   * A task may have 10,000 steps, of 100 MB as JSON in all and 6 MB each; without a task, steps, variables and answers may take
   * 100 KB. A step that has no room throws ToolError before its work. A result that is too large, or is not JSON, is lost:
   * the step throws ToolError, in later runs, too, and the work is not done again.
   *
   * A task may work longer than its function may run. When little of that time is left (a tenth, at least 5 s or a quarter, at
   * most a minute, and as long as its longest step has taken), a run that has done a step does not begin another: it ends, and the
   * next one goes on. A single step must fit into one run.
   *
   * @throws StepInterrupted by `atMostOnce`, StepLost if its result is gone from S3
   * @example await task.step('pay', () => pay(order), { atMostOnce: true });
   */
  step<T>(name: string, work: () => T | Promise<T>, options?: StepOptions): Promise<T>;
  /**
   * Does a step for each item of a list, some at the same time, and returns their results in the order of the items. The steps are
   * named `<name> 1/200` to `<name> 200/200`, so the name of the map has 1 to 52 characters. All that is said of steps holds for
   * them: the list may take several runs, and an item that is done is not done again. Give it the same list in each run, in the same
   * order, from a step or the arguments: a list of another length is refused.
   *
   * If the work on an item throws, no further item begins, and the map throws that error once those under way have ended.
   *
   * @example const pages = await task.map('pages', urls, (url) => fetchPage(url), { concurrency: 20, retry: { attempts: 3 } });
   */
  map<T, R>(
    name: string,
    items: readonly T[],
    work: (item: T, index: number) => R | Promise<R>,
    options?: MapOptions<T, R>,
  ): Promise<R[]>;
  /**
   * Stores a file beside the task, of up to 5 GB, and returns the link to it: a block for the `content` of the result. It is
   * read piece by piece, so a stream never lies in memory as a whole. Clients see it once all of it is stored; each read of the
   * result gives them a URL that works for an hour, as long as the task can be read. The tool's definition says `files: true`.
   *
   * A task has each file once, as a step: a later run gets the link of the one that is stored, and its body is not read. So give a
   * function that makes the body where that is work. A task has 100 files at most. If the body throws, nothing is stored.
   *
   * @param name 1 to 200 characters without `/`, different for each file of the task
   * @throws ToolError for a name, type or size that is not allowed, for a file too many, and in a call without a task
   * @example const film = await task.file('film.mp4', () => render(scene), { contentType: 'video/mp4' });
   */
  file(name: string, body: FileBody, options?: FileOptions): Promise<FileLink>;
  /**
   * Shows a file while the task works: its link stands behind the last message that was reported, and behind later ones. Without a
   * task it does nothing. Throws TaskEnded when the task is over.
   *
   * @example await task.preview(await task.file('preview.png', firstFrame, { contentType: 'image/png' }));
   */
  preview(file: FileLink): Promise<void>;
  /**
   * Sleeps for a time, or until a moment, of days if need be: the run ends here, nothing runs meanwhile, and within a minute or
   * so after that time the function starts again from the top. The last 10 seconds it sleeps in the run. The end is stored when the
   * sleep begins, so every run sleeps until the same moment. Each wait of a run needs a different name, of 1 to 64 characters.
   * Of what the code waits for at the same time, the first that is over begins the next round (`Promise.all`, `Promise.race`).
   *
   * Without a task it can sleep for 10 seconds. Throws a ToolError for a time that is negative, not a number, or after the
   * deadline of the task.
   *
   * @example await task.sleep('until the report is due', { days: 1, hours: 6 });
   * @example await task.sleep('until morning', { until: nextSixOClock }); // a Date, or ms since the epoch
   */
  sleep(name: string, time: Duration | Until): Promise<void>;
  /**
   * Checks again and again whether there is something, and returns the first value that is not `undefined` or `false`, as JSON
   * keeps it; `{ timedOut: true }` if there is none in time. Between checks it waits as `sleep` does. The value is the result of a
   * step of this name. However many checks there are, the task keeps two entries; each check after a longer wait is a round.
   * The check runs again in a run that begins again, so it must be safe to repeat. Throws ToolError as `sleep` does.
   *
   * @example const export_ = await task.until('exported', () => findExport(id), { every: { minutes: 5 }, within: { hours: 6 } });
   */
  until<T>(name: string, check: Check<T>, times: Polling): Promise<T | TimedOut>;
  /**
   * Makes a link to a page of the server with a question, for a person who needs no MCP client: give its `url` to them in a step,
   * or to the client by `elicitUrl`. `answer()` waits for the answer, of days if need be, or until the time is over. Each
   * person who has the URL can answer. The first answer counts, also if it comes before `answer()`. The question is stored when
   * the link is made.
   *
   * Throws ToolError in a call without a task, and for a time that ends after the deadline of the task.
   *
   * @example
   * const approval = await task.link('approval', elicitForm('Buy it?', { ok: { type: 'boolean' } }), { within: { days: 3 } });
   * await task.step('mail', () => mail(manager, approval.url));
   * const { timedOut, action, content, by } = await approval.answer();
   */
  link<Content>(name: string, question: FormQuestion<Content>, times: Within): Promise<Link<Content>>;
  /**
   * Makes a URL to which another system sends JSON, once, by POST. `received()` waits for it, of days if need be, or until the time
   * is over. What comes before `received()` counts. Throws ToolError as `link` does, and `received()` if a body does
   * not fit a Standard Schema.
   *
   * @example
   * const trained = await task.webhook('trained', { within: { hours: 12 }, schema });
   * await task.step('start', () => startJob(data, trained.url));
   * const { timedOut, body } = await trained.received();
   */
  webhook<const S extends InputSchema | undefined = undefined>(
    name: string,
    options: WebhookOptions<S>,
  ): Promise<Webhook<BodyOf<S>>>;
}
