import { objectOf } from '../json.ts';
import type { TableResource } from '../template/specs.ts';
import { jsonService, parseInput } from '../wire/server.ts';
import type { WireService } from '../wire/types.ts';
import { errorType, startEngine } from './engine.ts';
import { checkExpressions } from './expressions.ts';
import { createMeter } from './meter.ts';
import { type Consumer, openStreams, type Streams } from './stream/index.ts';
import { streamOperations } from './stream/operations.ts';
import { ensureTable } from './tables.ts';
import { createTimeToLive, type TimeToLiveOptions } from './ttl.ts';

interface DynamoDbOptions extends Omit<TimeToLiveOptions, 'expire'> {
  readonly tables: readonly TableResource[];
  /** What reads the streams of the tables. @default nothing */
  readonly consumers?: readonly Consumer[];
  /** @default in memory */
  readonly dataDir?: string | undefined;
  /** Whether answers carry the capacity they consumed. */
  readonly metered: boolean;
}

/** DynamoDB: dynalite behind the wire of this cloud, with time to live and, for tests, consumed capacity. */
export async function startDynamoDb(options: DynamoDbOptions) {
  const { tables, consumers = [], dataDir } = options;
  const engine = startEngine(dataDir);
  let streams: Streams;
  try {
    await Promise.all(tables.map((table) => ensureTable(engine, table)));
    const durable = dataDir !== undefined;
    streams = await openStreams({ store: engine.store, tables, consumers, durable, now: options.now });
  } catch (error) {
    await engine.close();
    throw error;
  }
  const ttl = createTimeToLive(engine, tables, { ...options, expire: streams.expire });
  const operations = { ...ttl.operations, ...streamOperations(engine, streams) };
  const added = jsonService('dynamodb', '1.0', operations);
  const meter = options.metered ? createMeter(engine, tables) : undefined;
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  const service: WireService = {
    name: 'dynamodb',
    async handle(request) {
      const { operation, body } = request;
      if (Object.hasOwn(operations, operation)) return added.handle(request);
      checkExpressions(body);
      const metered = await meter?.(operation, parseInput(body));
      const answer = metered?.answer ?? (await engine.send(operation, body));
      const error = answer.status === 200 ? undefined : errorType(objectOf(JSON.parse(answer.body)));
      return { ...answer, headers, error, consumed: metered?.consumed };
    },
  };
  return {
    service,
    streams,
    /** Removes expired items now. Returns how many. */
    sweep: ttl.sweep,
    async stop(): Promise<void> {
      await ttl.stop();
      await streams.settled();
      await engine.close();
    },
  };
}
