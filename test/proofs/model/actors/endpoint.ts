import type { ModernCall, ServerContext } from '../../../../functions/mcp/context.ts';
import type { EventStream } from '../../../../functions/mcp/http/sse.ts';
import { type Signer, signer } from '../../../../functions/mcp/identity/signing.ts';
import { legacy } from '../../../../functions/mcp/legacy.ts';
import { methods } from '../../../../functions/mcp/methods/index.ts';
import { LEGACY, MODERN } from '../../../../functions/mcp/protocol/versions.ts';
import { pollLimit } from '../../../../functions/mcp/read/poll-limit.ts';
import { questionId } from '../../../../functions/mcp/stream/questions.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import { InternalError, McpError } from '../../../../functions/tasks/errors.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import { createObjects } from '../../../support/engine/objects.ts';
import type { Shown } from '../checks/reads.ts';
import type { Services, Simulation } from '../simulation/simulation.ts';
import { manifest, tools } from './tools.ts';

type Params = Readonly<Record<string, unknown>>;
export type Era = 'legacy' | 'modern';

/** The client got no answer: it does not know what has been done. */
export class Disconnected extends Error {}

/** All clients of the model are one user's. */
export const principal: Principal = { kind: 'verified', key: 'user' };
const accepts = ['elicitation/create'];
const keys: Signer = signer(async () => 'a key');
const wires = { legacy: legacyWire, modern: modernWire(manifest.serverInfo) };
const request = { method: 'POST', headers: { accept: 'application/json' }, body: '' };

/** When Lambda ends the endpoint, and how long all attempts of one of its calls take at most, in ms. */
const MOST = 60_000;
const CALL_TIMEOUT = 20_000;

/** One request, served in its own invocation of the endpoint. Throws McpError or Disconnected. */
export function requestOf(simulation: Simulation, client: string) {
  return {
    /** `asTask`: 2026-07-28 only, whether it declares the tasks extension. */
    send: (era: Era, method: string, params: Params, asTask = true): Promise<object> =>
      invoke(simulation, client, method, (server) => {
        const run = methods[era].get(method);
        if (run === undefined) throw new Error(`no ${method}`);
        return run(callOf(era, method, params, asTask), server);
      }),
    /** 2026-07-28: a stream about tasks to its end. Each look of the server at them begins with `looks`. */
    listen: (taskIds: readonly string[], on: { looks(): void; told(task: Shown): void }): Promise<object> =>
      invoke(simulation, client, 'a stream', async (server) => {
        const run = methods.modern.get('subscriptions/listen');
        const call = callOf('modern', 'subscriptions/listen', { notifications: { taskIds } }, true);
        const sleep = async (ms: number) => {
          await server.sleep(ms);
          on.looks();
        };
        on.looks();
        const stream = (await run?.(call, { ...server, sleep })) as EventStream;
        for await (const frame of stream.frames) {
          if (frame === '') continue;
          const { method, params } = JSON.parse(frame.slice('data: '.length));
          if (method === 'notifications/tasks') on.told(params);
        }
        return {};
      }),
    /** 2025-11-25: a question of the server's is answered; without a result, refused. */
    respond: (taskId: string, key: string, result: object | undefined): Promise<object> =>
      invoke(simulation, client, 'a response', async (server) => {
        const id = await questionId({ principal }, { taskId }, key, server);
        const message = { kind: 'response' as const, id, ...(result ? { result } : { error: {} }) };
        await legacy.accept?.(message as never, { request, principal }, server);
        return {};
      }),
  };
}

/** Notes who starts a first round, and whether the answer says that it could not be started. */
function watched({ store, workflow }: Services, simulation: Simulation) {
  const start: Services['workflow']['start'] = async (record, input) => {
    const task = record.round === 1 ? simulation.truth.task(record.taskId) : undefined;
    if (task !== undefined) task.starters++;
    try {
      return await workflow.start(record, input);
    } catch (error) {
      if (task !== undefined) task.startFailed = true;
      throw error;
    }
  };
  return { store, workflow: { ...workflow, start } };
}

function callOf(era: Era, method: string, params: Params, tasks: boolean): ModernCall {
  const version = era === 'legacy' ? LEGACY : MODERN;
  const common = { id: 1, principal, accepts, request, replyHeaders: {} };
  return { ...common, wire: wires[era], version, method, params, tasks } as ModernCall;
}

function invoke(
  simulation: Simulation,
  client: string,
  what: string,
  run: (server: ServerContext) => Promise<object>,
): Promise<object> {
  const { agenda, faults, trace } = simulation;
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  const failed = () => reject(new Disconnected());
  agenda.add({
    label: `${client} sends ${what}`,
    act(draw) {
      const lost = draw(100) >= 100 - faults.rate / 2;
      if (lost) faults.struck++;
      if (lost && draw(2) === 0) return failed();
      const process = simulation.start({
        name: `endpoint for ${client}`,
        callTimeout: CALL_TIMEOUT,
        most: MOST,
        died: failed,
      });
      const services = watched(simulation.services(process, 'endpoint'), simulation);
      const server: ServerContext = {
        manifest,
        tools,
        toolEngine: () => 'standard',
        log: () => {},
        ...services,
        audit: () => {},
        inputs: inputStore(createObjects()),
        results: { get: () => Promise.reject(new Error('the model stores no results')) },
        currentState: async () => undefined,
        invoke: () => Promise.reject(new Error('no tool of the model is called directly')),
        signer: keys,
        files: {
          presign: () => Promise.reject(new Error('the model has no files')),
          read: () => Promise.reject(new Error('the model has no files')),
          listFiles: () => Promise.reject(new Error('the model has no files')),
        },
        url: '',
        pollLimit: pollLimit(process.now),
        now: process.now,
        sleep: process.sleep,
      };
      const answered = (settle: () => void) => {
        process.end();
        trace(`${client}: ${what} answered${lost ? ', but the answer is lost' : ''}`);
        if (lost) failed();
        else settle();
      };
      run(server).then(
        (answer) => answered(() => resolve(answer)),
        (error: unknown) => {
          trace(`  ${String(error)}`);
          const shown = error instanceof McpError ? error : new InternalError();
          if (shown !== error) simulation.checkError(error, process.name);
          answered(() => reject(shown));
        },
      );
    },
  });
  return promise;
}
