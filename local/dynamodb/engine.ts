import { EventEmitter } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import dynalite from 'dynalite';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, objectOf } from '../json.ts';
import type { Store } from './store.ts';

/** dynalite, in this process. */
export interface Engine {
  /** Handles one request of a client. */
  send(operation: string, body: string | Buffer): Promise<EngineAnswer>;
  /** The same for the cloud itself. Throws an AwsError if DynamoDB answers with one. */
  call(operation: string, input: JsonObject): Promise<JsonObject>;
  /** The database below. Open once a call has been answered. */
  readonly store: Store;
  close(): Promise<void>;
}

export interface EngineAnswer {
  readonly status: number;
  readonly body: string;
}

const HEADERS = {
  'content-type': 'application/x-amz-json-1.0',
  // dynalite requires every part of a signature and checks none.
  authorization: 'AWS4-HMAC-SHA256 Credential=local/0/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '0',
};

export function startEngine(dataDir: string | undefined): Engine {
  const path = dataDir === undefined ? undefined : join(dataDir, 'dynamodb');
  if (path !== undefined) mkdirSync(path, { recursive: true });
  const { server, store } = startDynalite({ ...(path === undefined ? {} : { path }) });
  const pending = new Set<Promise<unknown>>();
  let closed = false;

  const send = async (operation: string, body: string | Buffer): Promise<EngineAnswer> => {
    // If its database is closed, dynalite throws where no caller can catch.
    if (closed) throw new AwsError('ServiceUnavailable', 'DynamoDB is stopped', 503);
    const answer = request(server, operation, body);
    const done = answer.finally(() => pending.delete(done)).catch(() => undefined);
    pending.add(done);
    return answer;
  };
  return {
    send,
    store,
    async call(operation, input) {
      const { status, body } = await send(operation, JSON.stringify(input));
      const output = objectOf(JSON.parse(body));
      if (status === 200) return output;
      throw new AwsError(errorType(output) ?? 'InternalFailure', String(output.message ?? ''), status);
    },
    async close() {
      closed = true;
      await Promise.all(pending);
      await closeDatabase(server);
    },
  };
}

/** The same module object that dynalite itself gets. */
const dynaliteDb: { create(options: object): Store } = createRequire(import.meta.url)('dynalite/db');

/** dynalite keeps its database to itself, so this takes it where dynalite creates it. */
function startDynalite(options: { readonly path?: string }): { server: Server; store: Store } {
  const { create } = dynaliteDb;
  let store: Store | undefined;
  dynaliteDb.create = (all) => {
    store = create(all);
    return store;
  };
  try {
    const server = dynalite({ ...options, createTableMs: 0, deleteTableMs: 0 });
    if (!store) throw new Error('this version of dynalite creates its database elsewhere');
    return { server, store };
  } finally {
    dynaliteDb.create = create;
  }
}

/** `com.amazonaws.dynamodb.v20120810#Name` -> `Name` */
export function errorType(output: JsonObject): string | undefined {
  return typeof output.__type === 'string' ? output.__type.split('#').at(-1) : undefined;
}

/**
 * Passes a request to dynalite without a connection. A port of dynalite would be open to every process of the machine,
 * and to web pages too, because it allows all origins. This is also faster.
 */
function request(server: Server, operation: string, body: string | Buffer): Promise<EngineAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
  const headers = { ...HEADERS, 'x-amz-target': `DynamoDB_20120810.${operation}` };
  const incoming = Object.assign(new EventEmitter(), { method: 'POST', url: '/', headers });
  const outgoing = {
    statusCode: 200,
    setHeader: () => undefined,
    end: (text = '') => resolve({ status: outgoing.statusCode, body: text }),
  };
  try {
    server.emit('request', incoming, outgoing);
    incoming.emit('data', Buffer.from(body));
    incoming.emit('end');
  } catch (error) {
    reject(error);
  }
  return promise;
}

/** dynalite closes its database only if its server listens, so the server listens for this moment. */
function closeDatabase(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.listen(0, '127.0.0.1', () => server.close((error) => (error ? reject(error) : resolve())));
  });
}
