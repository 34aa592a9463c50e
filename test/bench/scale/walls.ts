import type { OwnerLoad } from './owner.ts';
import { type Quota, quotas } from './quotas.ts';
import type { Units } from './simple-task.ts';

/** A task of this model: one run of 10 s in Lambda, and a client that polls five times, each a read unit of the record. */
const TASK = { runSeconds: 10, polls: 5, requests: 6, transitions: 2, events: 2, entriesOfRequest: 10 } as const;
/** `throttling` of a server: a prop. */
const THROTTLING: Quota = { most: 1_000, source: 'deploying.md', rule: '`throttling`: 1,000 requests a second' };
/** At worst a create also has a condition that fails, and frees slots: `docs/architecture/tasks.md`, "Open tasks". */
const WORST_OF_OWNER = 5;

/** Where tasks are throttled. */
export interface Wall {
  readonly what: string;
  /** What one task takes of it. */
  readonly takes: string;
  /** From how many tasks a second on. */
  readonly from: number;
  readonly quota: Quota;
  readonly removedBy: string;
  /** On which engine it is met. @default on both */
  readonly only?: 'Standard' | 'Express';
}

const wall = (units: number, quota: Quota, rest: Omit<Wall, 'from' | 'quota'>): Wall => ({
  ...rest,
  quota,
  from: Math.floor(quota.most / units),
});

/** Of a whole server, those that are met first at the top. */
export function wallsOfServer({ table, indexes, hottest }: Units): Wall[] {
  const largest = Math.max(table, ...Object.values(indexes));
  const { concurrency, requests, startStandard, startExpress, transitions, newTable, putEvents } = quotas;
  return [
    wall(TASK.runSeconds, concurrency, {
      what: 'concurrent executions of Lambda',
      takes: `${TASK.runSeconds} s of one`,
      removedBy: 'quota; shorter runs',
    }),
    wall(TASK.requests, THROTTLING, {
      what: 'requests to the server',
      takes: `${TASK.requests} requests`,
      removedBy: '`throttling`; longer `pollInterval`',
    }),
    wall(TASK.requests, requests, {
      what: 'requests to API Gateway',
      takes: `${TASK.requests} requests`,
      removedBy: 'quota; longer `pollInterval`',
    }),
    wall(1, startStandard, {
      what: 'starts of Step Functions',
      takes: '1 start',
      removedBy: "`engine: 'express'`; quota",
      only: 'Standard',
    }),
    wall(1, startExpress, { what: 'starts of Step Functions', takes: '1 start', removedBy: 'quota', only: 'Express' }),
    wall(TASK.transitions, transitions, {
      what: 'state transitions',
      takes: `${TASK.transitions} transitions`,
      removedBy: "`engine: 'express'`; quota",
      only: 'Standard',
    }),
    wall(largest, newTable, {
      what: 'a new table, or its index `status`',
      takes: `${largest} write units of each`,
      removedBy: '`warmThroughput`; it grows to twice its last peak within 30 minutes',
    }),
    wall(largest, quotas.table, {
      what: 'the table, or its index `status`',
      takes: `${largest} write units of each`,
      removedBy: 'quota',
    }),
    ...Object.entries(hottest).map(([name, units]) =>
      wall(units, quotas.indexWrites, {
        what: `a key of the index \`${name}\``,
        takes: `${units} write units of the busiest key`,
        removedBy: 'nothing: more servers',
      }),
    ),
    wall(TASK.events / TASK.entriesOfRequest, putEvents, {
      what: 'PutEvents',
      takes: `${TASK.events} events, up to ${TASK.entriesOfRequest} in a request`,
      removedBy: 'quota',
    }),
  ].sort((a, b) => a.from - b.from);
}

/** Of one owner, with `maxOpenTasks` 1,000 and all slots taken again and again. */
export function wallsOfOwner({ write, read }: OwnerLoad): Wall[] {
  const where = 'the partition of one owner';
  const removedBy = 'more owners: an identity for each user of a gateway';
  return [
    wall(WORST_OF_OWNER, quotas.partitionWrites, {
      what: `${where}, at worst`,
      takes: `${WORST_OF_OWNER} write units`,
      removedBy,
    }),
    wall(write, quotas.partitionWrites, {
      what: `${where}, simulated`,
      takes: `${write.toFixed(2)} write units`,
      removedBy,
    }),
    wall(read, quotas.partitionReads, {
      what: `reads of ${where}, simulated`,
      takes: `${read.toFixed(1)} read units, without polls`,
      removedBy: `${removedBy}; fewer open tasks`,
    }),
    wall(read + TASK.polls, quotas.partitionReads, {
      what: `reads of ${where} with ${TASK.polls} polls of each task, simulated`,
      takes: `${(read + TASK.polls).toFixed(1)} read units`,
      removedBy: `longer \`pollInterval\`; ${removedBy}`,
    }),
  ].sort((a, b) => a.from - b.from);
}

/** The wall that is met first at this many tasks a second. */
export function firstAt(walls: readonly Wall[], tasks: number, engine: 'Standard' | 'Express'): Wall | undefined {
  return walls.find(({ from, only }) => from < tasks && (only === undefined || only === engine));
}
