import { AwsError } from '../aws-error.ts';
import { type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import type { TableResource } from '../template/specs.ts';
import type { Operations } from '../wire/types.ts';
import type { Engine } from './engine.ts';
import type { Expire } from './stream/capture.ts';
import { keyNames } from './units.ts';

export interface TimeToLiveOptions {
  readonly now: () => number;
  /** Milliseconds between two removals of expired items. */
  readonly sweepMs: number;
  readonly expire: Expire;
  readonly onError: (message: string) => void;
}

// As in AWS: an expiry further in the past counts as a mistake, and the item stays.
const OLDEST_SECONDS = 5 * 365 * 24 * 3600;

// A sweep reads the whole table in the process that serves it, so it gets at most this share of the time.
const BUSY_SHARE = 0.05;

/** Time to live, which dynalite lacks: its operations, and the sweeper that removes what has expired. */
export function createTimeToLive(
  engine: Engine,
  tables: readonly TableResource[],
  { now, sweepMs, expire, onError }: TimeToLiveOptions,
) {
  const attributes = new Map(tables.flatMap(({ name, ttlAttribute }) => (ttlAttribute ? [[name, ttlAttribute]] : [])));
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();

  /** Removes all expired items now. Returns how many. */
  const sweep = async (): Promise<number> => {
    let removed = 0;
    for (const [table, attribute] of attributes) {
      removed += await sweepTable({ engine, expire, stopped: () => stopped }, table, attribute, now());
    }
    return removed;
  };
  const later = (delay: number): void => {
    timer = setTimeout(() => {
      const start = performance.now();
      running = sweep()
        .catch((error: unknown) => onError(`the TTL sweep failed: ${String(error)}`))
        .then(() => stopped || later(Math.max(sweepMs, (performance.now() - start) / BUSY_SHARE)));
    }, delay).unref();
  };
  later(sweepMs);

  return {
    operations: ttlOperations(engine, attributes),
    sweep,
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

interface SweepContext {
  readonly engine: Engine;
  readonly expire: Expire;
  readonly stopped: () => boolean;
}

async function sweepTable(context: SweepContext, table: string, attribute: string, at: number): Promise<number> {
  const { engine, expire, stopped } = context;
  const seconds = Math.floor(at / 1000);
  const expired = {
    TableName: table,
    ExpressionAttributeNames: { '#ttl': attribute },
    ExpressionAttributeValues: { ':now': { N: `${seconds}` }, ':oldest': { N: `${seconds - OLDEST_SECONDS}` } },
  };
  const condition = '#ttl < :now AND #ttl > :oldest';
  const { Table } = await engine.call('DescribeTable', { TableName: table });
  const keys = keyNames(objectOf(Table));
  let removed = 0;
  let from: unknown;
  do {
    const page = await engine.call('Scan', { ...expired, FilterExpression: condition, ExclusiveStartKey: from });
    for (const item of listOf(page.Items).map(objectOf)) {
      const Key = Object.fromEntries(keys.map((name) => [name, item[name]]));
      // Checks again: the item may have a later expiry since it was read.
      const remove = () => engine.call('DeleteItem', { ...expired, Key, ConditionExpression: condition });
      removed += await expire(remove).then(() => 1, ignoreLostCondition);
    }
    from = page.LastEvaluatedKey;
  } while (from !== undefined && !stopped());
  return removed;
}

function ignoreLostCondition(error: unknown): number {
  if (error instanceof AwsError && error.type === 'ConditionalCheckFailedException') return 0;
  throw error;
}

function ttlOperations(engine: Engine, attributes: Map<string, string>): Operations {
  const tableOf = async (input: JsonObject): Promise<string> => {
    await engine.call('DescribeTable', { TableName: input.TableName });
    return String(input.TableName);
  };
  return {
    async UpdateTimeToLive(input) {
      const table = await tableOf(input);
      const { AttributeName, Enabled } = objectOf(input.TimeToLiveSpecification);
      const attribute = stringOf(AttributeName);
      if (attribute === undefined) throw new AwsError('ValidationException', 'AttributeName must not be null');
      const current = attributes.get(table);
      if (Enabled ? current !== undefined : current !== attribute) {
        const message = Enabled ? 'TimeToLive is already enabled' : 'TimeToLive is already disabled';
        throw new AwsError('ValidationException', message);
      }
      if (Enabled) attributes.set(table, attribute);
      else attributes.delete(table);
      return { TimeToLiveSpecification: { AttributeName: attribute, Enabled: Enabled === true } };
    },
    /** A table that is made again under the same name has no time to live. */
    async DeleteTable(input) {
      const deleted = await engine.call('DeleteTable', input);
      attributes.delete(String(input.TableName));
      return deleted;
    },
    async DescribeTimeToLive(input) {
      const AttributeName = attributes.get(await tableOf(input));
      const status =
        AttributeName === undefined ? { TimeToLiveStatus: 'DISABLED' } : { TimeToLiveStatus: 'ENABLED', AttributeName };
      return { TimeToLiveDescription: status };
    },
  };
}
