import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, objectOf, parsedObject } from '../json.ts';
import { type ExpressionParser, rememberExpressions } from './parsed-expressions.ts';
import type { Store } from './store.ts';
import { loadDatabase } from './text-sizes.ts';

export type Engine = ReturnType<typeof startEngine>;

export interface EngineAnswer {
  readonly status: number;
  readonly body: string;
}

/** Timeout of a close, in milliseconds: the same as in dynalite's own server. */
const CLOSE_WITHIN = 30_000;

export function startEngine(dataDir: string | undefined) {
  const path = dataDir === undefined ? undefined : join(dataDir, 'dynamodb');
  if (path !== undefined) mkdirSync(path, { recursive: true });
  const store = database.create({ ...(path !== undefined && { path }), createTableMs: 0, deleteTableMs: 0 });
  keepTables(store);
  const pending = new Set<Promise<unknown>>();
  let closed = false;

  /** Handles one request of a client. */
  const send = async (operation: string, body: string | Buffer): Promise<EngineAnswer> => {
    // If its database is closed, dynalite throws where no caller can catch.
    if (closed) throw new AwsError('ServiceUnavailable', 'DynamoDB is stopped', 503);
    const answer = request(store, operation, body.toString());
    const done = answer.finally(() => pending.delete(done)).catch(() => undefined);
    pending.add(done);
    return answer;
  };
  return {
    send,
    /** The database below. Open once a call has been answered. */
    store,
    /** Handles one request of the cloud itself. Throws an AwsError if DynamoDB answers with an error. */
    async call(operation: string, input: JsonObject): Promise<JsonObject> {
      const { status, body } = await send(operation, JSON.stringify(input));
      const output = objectOf(JSON.parse(body));
      if (status === 200) return output;
      throw new AwsError(errorType(output) ?? 'InternalFailure', String(output.message ?? ''), status);
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all(pending);
      store.lifecycleManager.setShutdownTimeout(CLOSE_WITHIN);
      await store.lifecycleManager.gracefulClose();
    },
  };
}

/** `com.amazonaws.dynamodb.v20120810#Name` -> `Name` */
export function errorType(output: JsonObject): string | undefined {
  return typeof output.__type === 'string' ? output.__type.split('#').at(-1) : undefined;
}

/**
 * The parts of dynalite behind its server. A port of dynalite would be open to every process of the machine, and to web
 * pages too, because it allows all origins. Its server also reads a signature and makes a checksum of every answer,
 * which nothing here uses.
 */
const load = createRequire(import.meta.url);
const database = loadDatabase(load) as { create(options: object): Store };
const validations: Validations = load('dynalite/validations');
rememberExpressions(validations);

interface Validations extends ExpressionParser {
  /** Leaves out what the operation does not know. Throws a Refusal. */
  checkTypes(input: JsonObject, types: object): JsonObject;
  /** Throws a Refusal. */
  checkValidations(input: JsonObject, types: object, custom: unknown, store: Store): void;
  toLowerFirst(name: string): string;
}

interface Refusal {
  readonly statusCode?: number;
  readonly body?: JsonObject;
}

interface Handler {
  readonly types: object;
  readonly custom: unknown;
  readonly run: (store: Store, input: JsonObject, done: (error: Refusal | null, output?: JsonObject) => void) => void;
}

const OPERATIONS = new Set(
  (
    'BatchGetItem BatchWriteItem CreateTable DeleteItem DeleteTable DescribeTable DescribeTimeToLive GetItem ' +
    'ListTables ListTagsOfResource PutItem Query Scan TagResource UntagResource UpdateItem UpdateTable'
  ).split(' '),
);
const handlers = new Map<string, Handler>();

/** Loads a handler at the first request for it: most operations get no request. */
function handlerOf(operation: string): Handler {
  const name = validations.toLowerFirst(operation);
  const known = handlers.get(name) ?? {
    run: load(`dynalite/actions/${name}`),
    ...load(`dynalite/validations/${name}`),
  };
  handlers.set(name, known);
  return known;
}

/** Does what dynalite's server does. An error of the database ends the process: no caller can catch it. */
function request(store: Store, operation: string, body: string): Promise<EngineAnswer> {
  const { promise, resolve } = Promise.withResolvers<EngineAnswer>();
  const answer = (status: number, output: JsonObject = {}) => resolve({ status, body: JSON.stringify(output) });
  const refuse = (error: Refusal) => {
    if (error.statusCode === undefined) throw error;
    answer(error.statusCode, error.body);
  };
  const input = parsedObject(body);
  if (input === undefined) answer(400, { __type: 'com.amazon.coral.service#SerializationException' });
  else if (!OPERATIONS.has(operation)) answer(400, { __type: 'com.amazon.coral.service#UnknownOperationException' });
  else {
    const { types, custom, run } = handlerOf(operation);
    try {
      const checked = validations.checkTypes(input, types);
      validations.checkValidations(checked, types, custom, store);
      run(store, checked, (error, output) => (error ? refuse(error) : answer(200, output)));
    } catch (error) {
      refuse(error as Refusal);
    }
  }
  return promise;
}

/** Keeps descriptions of tables in memory: dynalite reads one from its database at every request for an item. */
function keepTables(store: Store): void {
  const { getTable, tableDb } = store;
  const kept = new Map<string, { readonly TableStatus: string }>();
  let changes = 0;
  const forget = (name: string) => {
    changes++;
    kept.delete(name);
  };
  for (const change of ['put', 'del'] as const) {
    const write = tableDb[change];
    tableDb[change] = (name, ...rest) => {
      forget(name);
      const written = rest.pop() as (error: unknown) => void;
      write(name, ...rest, (error: unknown) => {
        // A read that began before this write may have kept the old description.
        forget(name);
        written(error);
      });
    };
  }
  store.getTable = (name, status, done) => {
    // Operations on tables pass a boolean here, and change the description that they get: they get their own.
    if (typeof status !== 'function') return getTable(name, status, done);
    const table = kept.get(name);
    if (table !== undefined) return status(null, table);
    const before = changes;
    getTable(name, (error, found) => {
      if (found?.TableStatus === 'ACTIVE' && changes === before) kept.set(name, found);
      status(error, found);
    });
  };
}
