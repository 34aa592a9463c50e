import { Readable } from 'node:stream';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { taskStore } from '../tasks/store.ts';
import { workflow } from '../tasks/workflow.ts';
import { endpoint } from './endpoint.ts';
import type { HttpRequest } from './http.ts';
import type { Manifest, ToolEntry, Validators } from './manifest.ts';
import type { Server } from './server.ts';
import { signer } from './signing.ts';

/** A call that hangs is repeated in time to answer: the SDK itself would wait for ever. */
const requestHandler = { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true };

/** The endpoint as a Lambda function that streams; called once, by the entry made at synth. */
export function createHandler(manifest: Manifest, validators: Validators) {
  const server = createServer(manifest, validators, process.env);
  return middy<APIGatewayProxyEvent>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyInMillis: 0,
  }).handler(async (event: APIGatewayProxyEvent) => {
    const { status, headers, body } = await endpoint(httpRequest(event), server);
    // As bytes: middy cuts a long string wherever it likes, also in the middle of a character.
    return { statusCode: status, headers, body: typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body };
  });
}

function createServer(manifest: Manifest, validators: Validators, env: NodeJS.ProcessEnv): Server {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient({ requestHandler }), {
    marshallOptions: { removeUndefinedValues: true },
  });
  const secrets = new SecretsManagerClient({ requestHandler });
  const tools = manifest.tools.map((entry, i) => {
    const validate = validators.inputs[i] ?? (() => false);
    return [entry.name, { entry, validate, validateOutput: validators.outputs[i] }] as const;
  });
  return {
    manifest,
    tools: new Map(tools),
    store: taskStore(documents, env.TASKS_TABLE ?? ''),
    workflow: workflow(new SFNClient({ requestHandler }), env.MACHINE_ARN_PREFIX ?? ''),
    invoke: invoker((env.TOOL_FUNCTIONS ?? '').split(',')),
    signer: signer(async () => {
      const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: env.SIGNING_KEY_SECRET }));
      if (SecretString === undefined) throw new Error('The signing key has no value');
      return SecretString;
    }),
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** One attempt only: a tool without a task has no record that could tell a repeated side effect. */
function invoker(functions: readonly string[]): Server['invoke'] {
  const lambda = new LambdaClient({ maxAttempts: 1, requestHandler: { connectionTimeout: 1_000 } });
  return async (tool: ToolEntry, event: string) => {
    const invoke = new InvokeCommand({ FunctionName: functions[tool.function ?? 0], Payload: event });
    const abortSignal = AbortSignal.timeout(tool.timeout);
    try {
      const { FunctionError, Payload } = await lambda.send(invoke, { abortSignal });
      const text = Payload === undefined ? 'null' : Buffer.from(Payload).toString();
      if (FunctionError === undefined) return { text };
      const { errorType } = JSON.parse(text) as { errorType?: string };
      return { error: errorType ?? 'Lambda.Unknown' };
    } catch (error) {
      if (abortSignal.aborted) return { error: 'timeout' };
      throw error;
    }
  };
}

function httpRequest(event: APIGatewayProxyEvent): HttpRequest {
  const headers = Object.entries(event.headers ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), value] as const],
  );
  const body = event.body ?? '';
  return {
    method: event.httpMethod,
    headers: Object.fromEntries(headers),
    body: event.isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
}
