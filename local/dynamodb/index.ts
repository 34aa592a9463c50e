import { objectOf } from '../json.ts';
import type { TableResource } from '../template/specs.ts';
import { jsonService, parseInput } from '../wire/server.ts';
import type { WireRequest, WireResponse, WireService } from '../wire/types.ts';
import { type Engine, type EngineAnswer, errorType, startEngine } from './engine.ts';
import { checkExpressions } from './expressions.ts';
import { createMeter } from './meter.ts';
import { type Consumer, openStreams, type Streams } from './stream/index.ts';
import { ensureTable } from './tables.ts';
import { createTimeToLive, type TimeToLiveOptions } from './ttl.ts';

/** DynamoDB: dynalite behind the wire of this cloud, with time to live and, for tests, consumed capacity. */
export interface DynamoDb {
  readonly service: WireService;
  readonly streams: Streams;
  /** Removes expired items now. Returns how many. */
  sweep(): Promise<number>;
  stop(): Promise<void>;
}

export interface DynamoDbOptions extends Omit<TimeToLiveOptions, 'expire'> {
  readonly tables: readonly TableResource[];
  /** What reads the streams of the tables. @default nothing */
  readonly consumers?: readonly Consumer[];
  /** @default in memory */
  readonly dataDir?: string | undefined;
  /** Whether answers carry the capacity they consumed. */
  readonly metered: boolean;
}

export async function startDynamoDb(options: DynamoDbOptions): Promise<DynamoDb> {
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
  const ttlService = jsonService('dynamodb', '1.0', ttl.operations);
  const forward = options.metered ? forwardMetered(engine, tables) : forwardPlain(engine);
  return {
    service: {
      name: 'dynamodb',
      async handle(request) {
        if (Object.hasOwn(ttl.operations, request.operation)) return ttlService.handle(request);
        checkExpressions(request.body);
        return forward(request);
      },
    },
    streams,
    sweep: ttl.sweep,
    async stop() {
      await ttl.stop();
      await streams.settled();
      await engine.close();
    },
  };
}

type Forward = (request: WireRequest) => Promise<WireResponse>;

function forwardPlain(engine: Engine): Forward {
  return async ({ operation, body }) => described(await engine.send(operation, body));
}

function forwardMetered(engine: Engine, tables: readonly TableResource[]): Forward {
  const meter = createMeter(engine, tables);
  return async ({ operation, body }) => {
    const { answer, consumed } = await meter(operation, parseInput(body));
    return { ...described(answer), consumed };
  };
}

function described({ status, body }: EngineAnswer): WireResponse {
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  return { status, headers, body, error: status === 200 ? undefined : errorType(objectOf(JSON.parse(body))) };
}
