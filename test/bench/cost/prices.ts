/** List prices of us-east-1 in dollars, without free tiers and discounts for volume. Each with the page that says it. */
export const prices = {
  /** https://aws.amazon.com/step-functions/pricing/ ("Standard Workflows") */
  transition: 25 / 1e6,
  /** The same page, "Express Workflows". The duration is billed in steps of 100 ms, the memory in steps of 64 MB. */
  expressRequest: 1 / 1e6,
  expressGbSecond: 0.00001667,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  writeUnit: 0.625 / 1e6,
  readUnit: 0.125 / 1e6,
  /** https://aws.amazon.com/api-gateway/pricing/ ("REST APIs") */
  apiRequest: 3.5 / 1e6,
  /** https://aws.amazon.com/lambda/pricing/ (Arm) */
  lambdaRequest: 0.2 / 1e6,
  lambdaGbSecond: 0.0000133334,
  /** https://aws.amazon.com/cloudwatch/pricing/ (logs, standard class; vended logs cost as much) */
  logGb: 0.5,
  /** https://aws.amazon.com/eventbridge/pricing/ ("custom events") */
  event: 1 / 1e6,
} as const;

/** What `TaskEvents` takes for one change that it gets by itself: 256 MB for 10 ms, its lines and the lines of Lambda. */
const PUBLISHING = { gbSeconds: 0.25 * 0.01, logBytes: 1_500 };

/** The resources of one task, without the time of its function. */
export interface Work {
  /** Charged state transitions of Standard, retries included. */
  readonly transitions: number;
  /** Executions of Express: how long each ran, in ms, and its memory in MB. */
  readonly express: readonly { readonly ms: number; readonly mb: number }[];
  readonly apiRequests: number;
  readonly lambdaRequests: number;
  readonly lambdaGbSeconds: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly logBytes: number;
  /** Changes of a status, each an event. */
  readonly changes: number;
}

/** Dollars per million tasks, by part. */
export function perMillion(
  work: Work,
): Readonly<Record<'engine' | 'api' | 'table' | 'lambda' | 'logs' | 'events' | 'total', number>> {
  const { transitions, express, apiRequests, lambdaRequests, lambdaGbSeconds, writeUnits, readUnits, logBytes } = work;
  const runs = express.map(({ ms, mb }) => prices.expressRequest + prices.expressGbSecond * billedGbSeconds(ms, mb));
  const million = (dollars: number) => dollars * 1e6;
  const engine = million(transitions * prices.transition + sum(runs));
  const api = million(apiRequests * prices.apiRequest);
  const table = million(writeUnits * prices.writeUnit + readUnits * prices.readUnit);
  const lambda = million(lambdaRequests * prices.lambdaRequest + lambdaGbSeconds * prices.lambdaGbSecond);
  const logs = million((logBytes / 1e9) * prices.logGb);
  const published =
    prices.event +
    prices.lambdaRequest +
    PUBLISHING.gbSeconds * prices.lambdaGbSecond +
    (PUBLISHING.logBytes / 1e9) * prices.logGb;
  const events = million(work.changes * published);
  return { engine, api, table, lambda, logs, events, total: sum([engine, api, table, lambda, logs, events]) };
}

const billedGbSeconds = (ms: number, mb: number): number =>
  ((Math.ceil(ms / 100) * 100) / 1_000) * ((Math.ceil(mb / 64) * 64) / 1_024);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The units of a simple task that is polled five times. */
export const SIMPLE = { write: 8, read: 8.5 };

/**
 * A simple task that is polled five times, as docs/deploying.md counts it. The memory of an execution is 50 MB and some KB:
 * one step. Its log has the same events on both engines.
 *
 * @param runMs how long its run takes
 * @param units write units of the table and its indexes together, and read units: from `npm run proof -- units`. A test holds
 *   the default against what it measures
 */
export function simpleTask(
  engine: 'standard' | 'express',
  runMs: number,
  units: { readonly write: number; readonly read: number } = SIMPLE,
): Work {
  const express = engine === 'express';
  return {
    transitions: express ? 0 : 2,
    express: express ? [{ ms: runMs, mb: 51 }] : [],
    ...{ apiRequests: 6, lambdaRequests: 6, lambdaGbSeconds: 0.5 * (0.07 + 5 * 0.012) },
    ...{ writeUnits: units.write, readUnits: units.read, logBytes: 12_000, changes: 2 },
  };
}
