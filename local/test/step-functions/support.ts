import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  GetExecutionHistoryCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { onTestFinished } from 'vitest';
import { AwsError } from '../../aws-error.ts';
import {
  createStepFunctions,
  type Integration,
  type StateMachineSpec,
  type StatusChange,
  type StepFunctions,
  type StepFunctionsOptions,
} from '../../step-functions/index.ts';

export const RESOURCE = 'arn:aws:states:::lambda:invoke';
export const ROLE = 'arn:aws:iam::123456789012:role/machine';

export const machineArn = (name = 'm') => `arn:aws:states:eu-west-1:123456789012:stateMachine:${name}`;
export const executionArn = (name: string, machine = 'm') =>
  `arn:aws:states:eu-west-1:123456789012:execution:${machine}:${name}`;

/** A machine called m: the given top-level fields, JSONata. */
export function machine(definition: object, name = 'm'): StateMachineSpec {
  const text = JSON.stringify({ QueryLanguage: 'JSONata', ...definition });
  return { arn: machineArn(name), name, roleArn: ROLE, definition: text };
}

/** A machine of one state called S, which ends it. */
export const single = (state: object) => machine({ StartAt: 'S', States: { S: { End: true, ...state } } });

/** A machine of one Task called S whose catchers lead to Caught, which passes its input on. */
export function task(fields: object = {}, more: object = {}): StateMachineSpec {
  const S = { Type: 'Task', Resource: RESOURCE, Arguments: {}, End: true, ...fields };
  const caught = 'Catch' in fields ? { Caught: { Type: 'Succeed' } } : {};
  return machine({ StartAt: 'S', States: { S, ...caught }, ...more });
}

export interface Local {
  client: SFNClient;
  engine: StepFunctions;
  changes: StatusChange[];
  start(input?: unknown, name?: string): Promise<string>;
  stop(arn: string): Promise<void>;
  describe(arn: string): Promise<DescribeExecutionOutput>;
  /** Waits until the execution is closed. */
  ended(arn: string): Promise<DescribeExecutionOutput>;
  run(input?: unknown): Promise<DescribeExecutionOutput>;
  /** Runs an execution and returns the parsed output. Fails if the execution fails. */
  output(input?: unknown): Promise<unknown>;
  events(arn: string): Promise<string[]>;
  snapshot(arn: string): { states: readonly string[]; transitions: number };
}

type Setup = Partial<StepFunctionsOptions> & { task?: Integration };

/** The engine behind a real HTTP port, and the real SDK client. Both end with the test. */
export async function serve(specs: StateMachineSpec | StateMachineSpec[], setup: Setup = {}): Promise<Local> {
  const { task: integration = async () => ({}), ...options } = setup;
  const changes: StatusChange[] = [];
  const watchers = new Set<() => void>();
  const engine = createStepFunctions([specs].flat(), {
    integrations: { [RESOURCE]: integration },
    timeScale: 100,
    ...options,
    onStatusChange(change) {
      changes.push(change);
      for (const watcher of watchers) watcher();
      return options.onStatusChange?.(change);
    },
  });
  const client = await connect(engine);

  const describe = (arn: string) => client.send(new DescribeExecutionCommand({ executionArn: arn }));
  const closed = (arn: string) => changes.some((one) => one.executionArn === arn && one.status !== 'RUNNING');
  const start: Local['start'] = async (input = {}, name = randomUUID()) => {
    const request = { stateMachineArn: [specs].flat()[0]?.arn, name, input: JSON.stringify(input) };
    return (await client.send(new StartExecutionCommand(request))).executionArn ?? '';
  };
  const ended: Local['ended'] = async (arn) => {
    while (!closed(arn)) await new Promise<void>((resolve) => watchers.add(resolve));
    return describe(arn);
  };
  const run: Local['run'] = async (input) => ended(await start(input));
  return {
    client,
    engine,
    changes,
    start,
    describe,
    ended,
    run,
    stop: async (arn) => void (await client.send(new StopExecutionCommand({ executionArn: arn }))),
    async output(input) {
      const { status, error, cause, output = '' } = await run(input);
      if (status !== 'SUCCEEDED') throw new Error(`${status}: ${error} ${cause}`);
      return JSON.parse(output);
    },
    async events(arn) {
      const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn: arn }));
      return events.map((event) => `${event.type}`);
    },
    snapshot(arn) {
      const found = engine.executions().find((one) => one.arn === arn);
      if (found === undefined) throw new Error(`no execution ${arn}`);
      return found;
    },
  };
}

async function connect(engine: StepFunctions): Promise<SFNClient> {
  const server = http.createServer((request, response) => void answer(engine, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new SFNClient({ endpoint: `http://127.0.0.1:${port}`, region: 'eu-west-1', credentials });
  onTestFinished(async () => {
    client.destroy();
    server.closeAllConnections();
    server.close();
    await engine.stop();
  });
  return client;
}

async function answer(engine: StepFunctions, request: http.IncomingMessage, response: http.ServerResponse) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const send = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(value));
  };
  try {
    const operation = engine.operations[`${request.headers['x-amz-target']}`.replace('AWSStepFunctions.', '')];
    if (operation === undefined) throw new AwsError('UnknownOperationException', 'unknown');
    send(200, await operation(JSON.parse(body)));
  } catch (thrown) {
    const { type = 'InternalFailure', message, status = 500 } = thrown as AwsError;
    send(status, { __type: type, message });
  }
}

/** A promise that a test settles. */
export const gate = <T = unknown>() => Promise.withResolvers<T>();

/** Counts the calls that are under way at the same time. */
export function gauge() {
  const seen = { open: 0, most: 0, calls: 0 };
  const enter = () => {
    seen.calls += 1;
    seen.open += 1;
    seen.most = Math.max(seen.most, seen.open);
  };
  const during = async (milliseconds: number) => {
    enter();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    seen.open -= 1;
  };
  return { seen, enter, during };
}

/** Waits for a condition that has no event. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
