import { digits } from '../report/page.ts';
import type { Arm, Row } from '../report/row.ts';
import { measureUnits } from '../units/measure.ts';
import type { Units } from '../units/meter.ts';
import { startUnits } from '../units/setup.ts';
import { perMillion, simpleTask, type Work } from './prices.ts';

/** Enough for the rows that are used here. */
const OPEN_TASKS = 10;
/** GB-seconds of the endpoint (512 MB) while it holds a request for a second. */
const HELD_SECOND = 0.5;

/** Dollars per million tasks, by engine and by the way in which the result reaches the client. */
export const cost: Arm = {
  title: 'Cost',
  about:
    'List prices of us-east-1 (`test/bench/cost/prices.ts` names the page of each), without free tiers, without the ' +
    "tool's own function, data transfer and what the server costs at rest. Units of DynamoDB are measured on the embedded cloud, " +
    'transitions, requests and events are counted; how long a request takes on Lambda is assumed (a create 70 ms, a poll 12 ms).',
  async run() {
    const setup = await startUnits(OPEN_TASKS);
    const rows = await measureUnits(setup, OPEN_TASKS).finally(() => setup.stop());
    const units = (request: string, state: string): Units => {
      const found = rows.find((row) => row.request === request && row.state.startsWith(state));
      if (found === undefined) throw new Error(`no units of ${request}, ${state}`);
      return found;
    };
    const simple = units('a simple task altogether, without polls', '');
    const poll = units('tasks/get', 'working').read;
    const task = (engine: Engine, ms: number, polls: number) =>
      simpleTask(engine, ms, { write: simple.write + simple.index, read: simple.read + polls * poll });
    const listen = units('subscriptions/listen, opened', '');
    const answer = units('tasks/update, the last answer', 'arguments of some bytes');
    const inline = units('tools/call without a task', 'works 2 s');

    const paths: Record<string, (engine: Engine) => Work> = {
      'a run of 1 s, five polls': (engine) => task(engine, 1_000, 5),
      'a run of 60 s, five polls': (engine) => task(engine, 60_000, 5),
      'a run of 1 s, one stream until it ends': (engine) => {
        const one = task(engine, 1_000, 1);
        const lambdaGbSeconds = HELD_SECOND * 1.1;
        const writeUnits = one.writeUnits + listen.write + 1;
        return { ...one, apiRequests: 2, lambdaRequests: 2, lambdaGbSeconds, writeUnits };
      },
      'a run of 2 s, the call is held, no task for the client': (engine) => ({
        ...task(engine, 2_000, 0),
        ...{ apiRequests: 1, lambdaRequests: 1, lambdaGbSeconds: HELD_SECOND * 2 },
        ...{ readUnits: inline.read, writeUnits: inline.write + inline.index },
      }),
      'two runs of 1 s, a question between them, ten polls': (engine) => {
        const one = task(engine, 1_000, 10);
        return {
          ...one,
          ...{ transitions: 2 * one.transitions, express: [...one.express, ...one.express] },
          ...{ apiRequests: 12, lambdaRequests: 12, lambdaGbSeconds: HELD_SECOND * (0.07 + 11 * 0.012) },
          ...{ readUnits: one.readUnits + answer.read, logBytes: 2 * one.logBytes, changes: 4 },
          // The question, and the answer that ends the wait.
          writeUnits: one.writeUnits + 2 + 1 + answer.write + answer.index,
        };
      },
    };
    return Object.entries(paths).flatMap(([what, of]) => linesOf(what, of('standard'), of('express')));
  },
};

type Engine = Parameters<typeof simpleTask>[0];

export function linesOf(what: string, standard: Work, express: Work): Row[] {
  const ratio = perMillion(express).total / perMillion(standard).total;
  return [line(`Standard: ${what}`, standard), line(`Express: ${what}`, express, ratio)];
}

function line(what: string, work: Work, ratio?: number): Row {
  const { total, engine, api, table, lambda, logs, events } = perMillion(work);
  const parts = { engine, API: api, table, Lambda: lambda, logs, events };
  const costs = Object.entries(parts).map(([name, dollars]) => `${name} ${digits(dollars)}`);
  const used =
    `transitions ${work.transitions}, runs on Express ${work.express.length}, requests ${work.apiRequests}, ` +
    `read units ${digits(work.readUnits)}, write units ${digits(work.writeUnits)}`;
  const times = ratio === undefined ? '' : `; ${digits(ratio)} × Standard`;
  return { what, measured: `**$${digits(total)}** a million${times} (${costs.join(', ')}); ${used}` };
}
