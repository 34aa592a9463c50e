import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { dynamoDb } from '../tasks/aws/dynamodb.ts';
import { variable } from '../tasks/aws/env.ts';
import { logEvent } from '../tasks/log.ts';
import { resultStore } from '../tasks/results/result-store.ts';
import { inputStore } from '../tasks/s3/input-store.ts';
import { journalStore } from '../tasks/table/journal-items.ts';
import { signalPlaceStore } from '../tasks/table/signal-places.ts';
import { taskStore } from '../tasks/table/store.ts';
import type { Shown, SignalRequest, SignalsContext } from './context.ts';
import { serve } from './serve.ts';

/** In ms. A sender waits for the answer, and tries again. */
const TIMEOUTS = { requestTimeout: 2_000, attempts: 3 };
/** For what lies in S3, all attempts together, in ms. */
const S3_TIMEOUT = 4_000;

/** The signals of links and webhooks as a Lambda function. Throws, by name, if a variable is missing. */
export function createHandler(shown: Shown) {
  const context = createContext(shown, process.env);
  return async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const { status, headers, body } = await serve(requestOf(event), context);
    return { statusCode: status, headers: { ...headers }, body };
  };
}

function createContext(shown: Shown, env: NodeJS.ProcessEnv): SignalsContext {
  const db = dynamoDb(TIMEOUTS);
  const table = variable(env, 'TASKS_TABLE');
  const objects = resultStore({ bucket: variable(env, 'RESULTS_BUCKET'), timeout: S3_TIMEOUT });
  return {
    store: taskStore(db, table, 'signals'),
    journal: journalStore(db, table),
    places: signalPlaceStore(db, table),
    inputs: inputStore(objects),
    values: objects,
    shown,
    log: logEvent,
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

function requestOf({
  httpMethod,
  pathParameters,
  headers,
  body,
  isBase64Encoded,
}: APIGatewayProxyEvent): SignalRequest {
  const named = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), value] as const],
  );
  return {
    method: httpMethod,
    path: pathParameters ?? {},
    headers: Object.fromEntries(named),
    body: isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? ''),
  };
}
