import { Readable } from 'node:stream';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { printAudit } from '../tasks/audit.ts';
import { type DynamoDb, dynamoDb } from '../tasks/aws/dynamodb.ts';
import { list, variable } from '../tasks/aws/env.ts';
import { currentState, type MapCount } from '../tasks/aws/execution-history.ts';
import { stepFunctions } from '../tasks/aws/step-functions.ts';
import { workflow } from '../tasks/aws/workflow.ts';
import { fileStore } from '../tasks/files/file-items.ts';
import { limits } from '../tasks/limits.ts';
import { logOfRequest } from '../tasks/log.ts';
import { resultStore } from '../tasks/results/result-store.ts';
import { inputStore } from '../tasks/s3/input-store.ts';
import { taskStore } from '../tasks/table/store.ts';
import type { ServerContext, ServerEvents } from './context.ts';
import { endpoint } from './endpoint.ts';
import { filesOf } from './files/objects.ts';
import { serveFile } from './files/serve.ts';
import { type HttpRequest, trimmed } from './http/http.ts';
import { verifiedCaller } from './identity/caller.ts';
import { signer } from './identity/signing.ts';
import { signingKey } from './identity/signing-key.ts';
import { invoker } from './invoke.ts';
import type { Manifest, Validators } from './manifest.ts';
import { machineStates } from './read/machine-states.ts';
import { pollLimit } from './read/poll-limit.ts';
import { wiredTools } from './wiring.ts';

/** Of one attempt, in ms: a call that hangs is tried again, and the client still gets its answer in time. */
const REQUEST_TIMEOUT = 5_000;
/** For input that lies in S3, all attempts together, in ms. */
const INPUT_TIMEOUT = 4_000;

/** Makes what a server with MCP Events does beside the rest. */
type EventsOf = (db: DynamoDb, env: NodeJS.ProcessEnv) => ServerEvents;

/** The endpoint as a streaming Lambda function. Throws, by name, if a tool or a variable is missing. */
export function createHandler(manifest: Manifest, validators: Validators, eventsOf?: EventsOf) {
  const server = createServer(manifest, validators, process.env, eventsOf);
  return middy<APIGatewayProxyEvent>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyInMillis: 0,
  }).handler(async (event: APIGatewayProxyEvent) => {
    const asked = { ...server, url: manifest.publicUrl ?? urlOf(event), log: logOfRequest() };
    const { token, name = '' } = event.pathParameters ?? {};
    const method = event.httpMethod === 'HEAD' ? 'HEAD' : 'GET';
    const { status, headers, body } =
      token === undefined
        ? await endpoint(httpRequest(event, manifest), asked)
        : await serveFile({ method, token, name }, asked);
    // As bytes: middy cuts a long string into chunks, even inside a character.
    return { statusCode: status, headers, body: typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body };
  });
}

function createServer(
  manifest: Manifest,
  validators: Validators,
  env: NodeJS.ProcessEnv,
  eventsOf?: EventsOf,
): Omit<ServerContext, 'url' | 'log'> {
  const functions = list(env, 'TOOL_FUNCTIONS');
  const stateMachines = list(env, 'TOOL_MACHINES');
  const machineArnPrefix = variable(env, 'MACHINE_ARN_PREFIX');
  const db = dynamoDb({ requestTimeout: REQUEST_TIMEOUT });
  const bucket = variable(env, 'RESULTS_BUCKET');
  const store = taskStore(db, variable(env, 'TASKS_TABLE'), 'endpoint');
  const { most, window } = limits.states;
  // Each task of an anonymous caller without a session has an owner of its own.
  const countState = async (owner: string) =>
    owner.startsWith('task#') || store.countState(owner, most, Date.now(), window);
  const tools = wiredTools(manifest, validators, functions, stateMachines);
  return {
    manifest,
    tools,
    toolEngine: (tool) => tools.get(tool)?.entry.engine,
    store,
    audit: printAudit,
    workflow: workflow(stepFunctions({ requestTimeout: REQUEST_TIMEOUT, attempts: 3 }), machineArnPrefix),
    // Each read of a waiting task may need it.
    inputs: inputStore(resultStore({ bucket, timeout: INPUT_TIMEOUT })),
    results: resultStore({ bucket }),
    currentState: machineStates(stateMachines, machineArnPrefix, stateReader(), countState, Date.now),
    invoke: invoker(functions),
    files: { ...filesOf(bucket), ...fileStore(db, variable(env, 'TASKS_TABLE')) },
    signer: signer(signingKey(variable(env, 'SIGNING_KEY_SECRET'))),
    pollLimit: pollLimit(Date.now),
    events: eventsOf?.(db, env),
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** One short attempt: a client waits for it, and the answer is only progress. */
function stateReader() {
  const states = stepFunctions({ requestTimeout: 1_000, attempts: 1 });
  return (executionArn: string, before?: MapCount) => currentState(states, executionArn, before);
}

function httpRequest(event: APIGatewayProxyEvent, { auth }: Manifest): HttpRequest {
  // A repeated header counts with all its values (RFC 9110, 5.3): a router may have used any of them.
  const headers = Object.entries(event.multiValueHeaders ?? {}).flatMap(([name, values]) =>
    values === undefined ? [] : [[name.toLowerCase(), trimmed(values.join(', '))] as const],
  );
  const body = event.body ?? '';
  const caller = verifiedCaller(auth, event.requestContext);
  return {
    method: event.httpMethod,
    headers: Object.fromEntries(headers),
    body: event.isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
    ...(caller && { caller }),
  };
}

/**
 * What is before `/mcp` in the URL of a request: API Gateway names the domain by which it came, and the path with its stage or its
 * base path. A server on this machine has a port, and no TLS.
 */
function urlOf({ requestContext, headers }: APIGatewayProxyEvent): string {
  const { domainName = '', path = '' } = requestContext;
  const isLoopback = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(domainName);
  const origin = isLoopback ? `http://${headers.Host ?? headers.host}` : `https://${domainName}`;
  return `${origin}${path.replace(/\/mcp\/?$/, '')}`;
}
