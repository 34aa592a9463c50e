import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../../../../functions/operator/acts/act.ts';
import { answerTask } from '../../../../../functions/operator/acts/answer.ts';
import { begin } from '../../../../../functions/operator/acts/begin.ts';
import { inBulk, selected } from '../../../../../functions/operator/acts/bulk.ts';
import { cancelTask, failTask } from '../../../../../functions/operator/acts/end.ts';
import { rerunTask } from '../../../../../functions/operator/acts/rerun.ts';
import type { Act, OperatorContext } from '../../../../../functions/operator/context.ts';
import { findTask } from '../../../../../functions/operator/find.ts';
import { newTaskKey } from '../../../../../functions/tasks/ids.ts';
import type { TaskKey } from '../../../../../functions/tasks/record.ts';
import { create } from '../../../../../functions/tasks/transitions/begin.ts';
import { cancels } from '../client.ts';
import type { Life } from '../life.ts';
import type { Storm } from '../storm.ts';
import { answersTo } from '../tools.ts';
import { type Connect, nameOf, UNHARMED } from './connect.ts';
import type { PlannedAct, PlannedOperator } from './plan.ts';

/** An act that was carried out, and all that its operator learned. */
export interface Performed {
  readonly act: Pick<PlannedAct, 'verb' | 'force' | 'named'>;
  readonly who: string;
  /** No other act has the same. */
  readonly reason: string;
  /** The task that the operator meant. */
  readonly taskId: string;
  /** When the operator searched for the task by an end that its twin has, too; by the clock of the cloud. */
  readonly search?: { readonly twin: string; readonly from: number; readonly to: number } | undefined;
  /** Undefined if the act threw. */
  readonly outcome?: Outcome;
  readonly error?: Error;
}

export interface Operators {
  readonly performed: readonly Performed[];
  /** The audit lines of all acts. */
  readonly audits: readonly Act[];
  /** Carries out the acts that are planned for the storm. */
  act(): Promise<void>;
  /** Runs again what has failed, of the tasks created since. */
  rerunFailed(since: number): Promise<void>;
  /** Carries out the late acts, on these tasks. */
  actLate(open: readonly TaskKey[]): Promise<void>;
  /** Tries to cancel tasks that no reader sees any more. */
  cancelGone(taskIds: readonly string[]): Promise<void>;
}

/** A seeded bug puts another one in the place of the context. */
export type Bug = (real: OperatorContext) => OperatorContext;

interface Parts {
  readonly planned: readonly PlannedOperator[];
  readonly lives: readonly Life[];
  readonly connect: Connect;
  readonly storm: Pick<Storm, 'trouble'>;
  readonly bug?: Bug | undefined;
  readonly seed: number;
}

/** As many characters of an id as the verbs take at least, or a few more. */
const END = 12;
/** For a client that has not got the id of its task, in ms. */
const WAITS = 500;
const PAUSE_MS = 20;
const TWIN_MS = 1_500;
/** At most so many tasks are run again. */
const RERUNS = 8;
/** Acts a second: no pause between them. */
const RATE = 1_000;
const TWIN = { tool: 'sleep', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false } as const;

export function operatorsIn({ planned, lives, connect, storm, bug = (real) => real, seed }: Parts): Operators {
  const performed: Performed[] = [];
  const audits: Act[] = [];
  const begun = performance.now();
  let acts = 0;
  const contextOf = (who: string) => bug(connect(who, (line) => void audits.push(line)));

  /** A task whose id ends like the id of another task, as no client could make it. */
  const plantTwin = async (taskId: string): Promise<string> => {
    const context = connect(UNHARMED, () => {});
    const now = context.now();
    const id = newTaskKey({ kind: 'anonymous' }, now).taskId.slice(0, -END) + taskId.slice(-END);
    const twin = create({ owner: `task#${id}`, taskId: id }, { ...TWIN, engine: context.toolEngine(TWIN.tool) }, now);
    // It works on while it is searched for.
    await begin(twin, JSON.stringify({ ms: TWIN_MS }), context);
    return id;
  };

  /** Undefined if the act throws: that is judged, and does not stop other acts. */
  async function perform(
    act: Pick<PlannedAct, 'verb' | 'force' | 'named' | 'trouble'>,
    taskId: string,
    who: string,
  ): Promise<Outcome | undefined> {
    const reason = `act ${++acts} of seed ${seed}`;
    const context = contextOf(who);
    const operator = { who, reason };
    const twin = act.named === 'twin' ? await plantTwin(taskId) : undefined;
    const life = lives.find((one) => one.taskIds.has(taskId));
    const trouble = act.trouble && storm.trouble(who, act.trouble);
    const from = context.now();
    let to = from;
    const one = { act, who, reason, taskId };
    const searched = () => ({ search: twin === undefined ? undefined : { twin, from, to } });
    try {
      const named = act.named === 'id' ? taskId : taskId.slice(-END);
      const key = await findTask(named, undefined, context.reads).finally(() => {
        to = context.now();
      });
      const outcome = await carryOut(act, key, life);
      performed.push({ ...one, ...searched(), outcome });
      if (outcome.done && outcome.newTaskId !== undefined) life?.reruns.add(outcome.newTaskId);
      return outcome;
    } catch (error) {
      performed.push({ ...one, ...searched(), error: error as Error });
      return undefined;
    } finally {
      trouble?.remove();
    }

    function carryOut({ verb, force }: typeof act, key: TaskKey, whose: Life | undefined): Promise<Outcome> {
      if (verb === 'cancel') return cancels.count(cancelTask(key, operator, context));
      if (verb === 'fail') return failTask(key, operator, context);
      if (verb === 'rerun') return rerunTask(key, force, operator, context);
      // Without all answers the others stay open.
      return answerTask(key, answersTo(whose?.task.tool).slice(0, force ? 1 : undefined), operator, context);
    }
  }

  const inTurn = async <T>(all: readonly T[], each: (one: T) => Promise<unknown>) => {
    for (const one of all) await each(one);
  };
  const all = (each: (operator: PlannedOperator, who: string) => Promise<unknown>) =>
    Promise.all(planned.map((operator, index) => each(operator, nameOf(index))));

  return {
    performed,
    audits,
    async act() {
      await all((operator, who) =>
        inTurn(operator.acts, async (act) => {
          await sleep(Math.max(0, begun + act.afterMs - performance.now()));
          const life = lives.find(({ task }) => task.number === act.task);
          for (const until = performance.now() + WAITS; performance.now() < until; await sleep(PAUSE_MS)) {
            if (life === undefined || life.taskIds.size > 0) break;
          }
          const [taskId] = life?.taskIds ?? [];
          if (taskId !== undefined) await perform(act, taskId, who);
        }),
      );
    },
    async rerunFailed(since) {
      const act = { verb: 'rerun', force: false, named: 'id', trouble: undefined } as const;
      await all(async ({ rerunsFailed }, who) => {
        if (!rerunsFailed) return;
        const context = contextOf(who);
        const { keys } = await selected({ statuses: ['failed'], createdFrom: since }, RERUNS, context);
        const rerun = async ({ taskId }: TaskKey) => {
          const outcome = await perform(act, taskId, who);
          return outcome ?? Promise.reject(new Error('It threw'));
        };
        await inBulk(keys, rerun, RATE, context);
      });
    },
    async actLate(open) {
      await all(({ late }, who) =>
        inTurn(late, async (act) => {
          const { taskId } = open[act.task % open.length] ?? {};
          if (taskId !== undefined) await perform(act, taskId, who);
        }),
      );
    },
    async cancelGone(taskIds) {
      const act = { verb: 'cancel', force: false, named: 'id', trouble: undefined } as const;
      await inTurn(taskIds, (taskId) => perform(act, taskId, nameOf(0)));
    },
  };
}
