import type { ToolEvent } from '../tasks/tool-contract.ts';
import type { Clock } from './clock.ts';
import { TaskEnded } from './errors.ts';
import { openFiles } from './files/files.ts';
import type { Journal } from './journal/journal.ts';
import { mapSteps } from './journal/map.ts';
import { openNames } from './journal/names.ts';
import { doStep, type StepOptions } from './journal/step.ts';
import { fitting } from './questions.ts';
import type { Amount, RunContext } from './run-context.ts';
import type { Task } from './task.ts';
import { type Ending, RoundEnd } from './waits/round-end.ts';
import { canWait, openWaits } from './waits/waits.ts';

/** What makes the task of a run, besides its event. */
export interface TaskParts {
  readonly journal: Journal;
  readonly ending: Ending;
  readonly abort: AbortController;
  readonly context: RunContext;
  readonly clock: Clock;
  /** Whether the definition of the tool says that it has files. */
  readonly mayStore: boolean;
  /** How long the run may still work, in ms. Negative: its round has to end. */
  readonly spare: () => number;
}

export function createTask(
  event: ToolEvent,
  { journal, ending, abort, context, clock, mayStore, spare }: TaskParts,
): Task {
  const { task } = event;
  const { signal } = abort;
  const { answers } = journal;
  const names = openNames(ending.step);
  const checkAlive = () => {
    if (signal.aborted) throw new TaskEnded();
  };
  /**
   * The name of a question. Who asks under the same key again asks another question, and so does another step: a later run
   * does not come to the questions of a step that is stored. A step that comes to its question again finds it by its own name.
   */
  function questionName(key: string): string {
    const step = ending.step();
    const { askedBy } = journal;
    const isOfKey = (name: string) => name === key || name.replace(/~\d+$/, '') === key;
    const isUsed = (name: string) => names.has('question', name);
    const own = [...askedBy].find(([name, by]) => by === step && isOfKey(name) && !isUsed(name))?.[0];
    let name = own ?? key;
    for (let times = 2; isUsed(name) || (askedBy.has(name) && name !== own); times++) name = `${key}~${times}`;
    names.use('question', name);
    if (step !== undefined) askedBy.set(name, step);
    return name;
  }
  /** Before what would begin: once the round ends, only steps that are under way go on, and what they do inside. */
  const checkOpen = () => {
    checkAlive();
    if (ending.stops()) throw new RoundEnd();
  };
  const waits = openWaits({ event, journal, names, port: context.journal, ending, clock, signal, spare });
  /** How long the longest step or file of this run has taken, in ms: the next one may take as long. */
  let longest = 0;
  /** Ends the round before work for which too little time is left. A run that has done nothing yet has to begin it. */
  const begin = () => {
    checkOpen();
    const hasNew = journal.hasNew() || files.hasNew();
    // Inside of a step nothing ends the round: the step has begun, and would have to do its work again.
    if (canWait(event) && ending.step() === undefined && hasNew && spare() < longest) ending.endWithMore();
  };
  const files = openFiles({ task, names, port: context.files, signal, begin, mayStore });
  /** The last message, which a preview is shown beside. */
  let said = '';
  async function report(message: string, amount: Amount, atOnce = false): Promise<void> {
    checkAlive();
    if (task === undefined) return;
    said = message;
    await ending.work(async () => {
      const shown = await journal.amountOf(amount);
      if (shown === undefined) return;
      if (!(await context.progress(task, files.withPreview(message), shown, atOnce))) abort.abort(new TaskEnded());
    });
    checkAlive();
  }
  /** A tool may begin to await the promise later, when the round has to end already. */
  function awaited<T>(wait: () => Promise<T>): Promise<T> {
    const waiting = (async () => {
      checkOpen();
      const found = await wait();
      checkOpen();
      return found;
    })();
    waiting.catch(() => {});
    return waiting;
  }
  /**
   * A tool may begin to await the promise later, when the round has to end already: an end that is not handled would end the process.
   * Other errors stay as they are.
   */
  function endable<T>(work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    work().then(resolve, (error: unknown) => {
      if (error instanceof RoundEnd || error instanceof TaskEnded) promise.catch(() => {});
      reject(error);
    });
    return promise;
  }
  async function stepOnce<T>(name: string, work: () => T | Promise<T>, options: StepOptions): Promise<T> {
    checkOpen();
    let from: number | undefined;
    const timed = async () => {
      // The entry of a step with `atMostOnce` may have waited for DynamoDB.
      checkAlive();
      from ??= clock.now();
      names.giveBack(ending.step());
      const made = await work();
      longest = Math.max(longest, clock.now() - from);
      return made;
    };
    return names.keep('step', name, `Step '${name}'`, async () => {
      const result = await doStep({ journal, clock, signal, begin }, name, timed, options);
      checkOpen();
      return result as T;
    });
  }
  const step = <T>(name: string, work: () => T | Promise<T>, options: StepOptions = {}) =>
    endable(() => stepOnce(name, work, options));
  return {
    id: task?.taskId,
    round: task?.round ?? 1,
    attempt: task?.attempt ?? 0,
    deadline: task?.deadline,
    traceparent: task?.traceparent,
    signal,
    accepts: event.accepts,
    caller: event.caller ?? {},
    progress: (message, amount = {}) => report(message, amount),
    requireInput: (questions) =>
      endable(async () => {
        checkOpen();
        const all = Object.entries(questions).map(([key, question]) => {
          const name = questionName(key);
          const given = Object.hasOwn(answers, name) ? fitting(question, answers[name]) : undefined;
          return { key, name, question, given };
        });
        const open = all.filter(({ given }) => given === undefined);
        if (open.length > 0) {
          await ending.end({ questions: Object.fromEntries(open.map(({ name, question }) => [name, question])) });
        }
        await ending.pass(`? ${all.map(({ name }) => name).join(' ')}`);
        checkOpen();
        return Object.fromEntries(all.map(({ key, given }) => [key, given])) as never;
      }),
    setVariable(name, value) {
      if (!journal.isBusy()) checkOpen();
      journal.setVariable(name, value);
    },
    getVariable: (name) => journal.getVariable(name) as never,
    step,
    map: (name, items, work, options = {}) => endable(() => mapSteps(step, journal, name, items, work, options)),
    file(name, body, options = {}) {
      return endable(async () => {
        checkOpen();
        const from = clock.now();
        const work = `file ${name}`;
        const link = await ending.work(() => files.store(name, body, options), { name: work });
        longest = Math.max(longest, clock.now() - from);
        await ending.inOrder(work);
        checkOpen();
        return link;
      });
    },
    async preview(file) {
      files.show(file);
      await report(said, {}, true);
    },
    sleep: (name, time) => awaited(() => waits.sleep(name, time)),
    until: (name, check, times) => awaited(() => waits.until(step, name, check, times)) as never,
    async link(name, question, times) {
      checkOpen();
      const { answer, ...link } = await waits.link(name, question, times);
      return { ...link, answer: () => awaited(answer) as never };
    },
    async webhook(name, options) {
      checkOpen();
      const { received, ...webhook } = await waits.webhook(name, options);
      return { ...webhook, received: () => awaited(received) as never };
    },
  };
}
