import { type Answer, type CallOptions, callTask } from '../../../functions/client/index.ts';
import { FAILURES, type FailureReason, failure } from '../../../functions/tasks/failures.ts';
import {
  connected,
  cut,
  type Handler,
  inTurn,
  Refusal,
  type Scripted,
  taskServer,
  throwing,
  UNANSWERED,
} from '../client/scripted.ts';
import { ended, REFUSALS } from './faults.ts';

/** How an answer fails: as an error of JSON-RPC, as one in the body of an HTTP error, or on the network. */
function failures(modern: boolean): readonly (readonly [string, Error])[] {
  const refused = Object.entries(REFUSALS).flatMap(([name, { code, message, data, httpStatus: status }]) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message, data } });
    const http = Object.assign(new Error(`HTTP ${status}`), { code: status, data: { status, text } });
    return [[name, new Refusal(code, message)] as const, [`${name} by HTTP`, http] as const];
  });
  const statuses = [401, 429, 500, 503].map(
    (status) => [`HTTP ${status}`, Object.assign(new Error(`HTTP ${status}`), { code: status })] as const,
  );
  return [...refused, ...statuses, ['cut', cut()], ...(modern ? [['unanswered', UNANSWERED] as const] : [])];
}

type Name = keyof typeof connected;

async function decided(name: Name, server: Scripted, options: CallOptions = {}) {
  const heard: unknown[] = [];
  const all = { onProgress: (progress: unknown) => void heard.push(progress), ...options };
  const outcome = await ended(callTask(await connected[name](server), 'tool', {}, all));
  return { outcome, heard, methods: server.methods() };
}

const question = { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } };
const inputRequests = { 'r1.a': { method: 'elicitation/create', params: question } };
/** A task that asks, and ends. */
const asking = (also: Readonly<Record<string, Handler>> = {}) =>
  taskServer([['working'], ['input_required', { inputRequests }], ['completed']], also);
const onQuestion = (): Answer => ({ action: 'decline' });

/** What the client library decides on each refusal, each fault, and each failure of a task. */
export async function decisions(): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const name of Object.keys(connected) as Name[]) {
    const modern = name.endsWith('2026-07-28');
    for (const [what, error] of failures(modern)) {
      for (const [method, options] of [
        ['tools/call', {}],
        ['tools/call', { idempotencyKey: 'k' }],
        ['tasks/get', {}],
        [modern ? 'tasks/update' : 'tasks/result', {}],
      ] as const) {
        const fails = throwing(error);
        const once = asking({ [method]: inTurn(fails, asking().handlers[method]) });
        const title = `${name}: ${what} at ${method} ${JSON.stringify(options)}`;
        all[`${title}, once`] = await decided(name, once, { onQuestion, ...options });
        all[title] = await decided(name, asking({ [method]: fails }), { onQuestion, ...options });
      }
    }
    for (const reason of Object.keys(FAILURES) as FailureReason[]) {
      const { error } = failure(reason);
      const { code, message } = error;
      const statuses = [['working'], ['failed', { error, statusMessage: message }]] as const;
      const server = taskServer(statuses, { 'tasks/result': throwing(new Refusal(code, message)) });
      all[`${name}: ${reason}`] = await decided(name, server);
    }
  }
  const [name] = Object.keys(connected) as [Name];
  all['without an answer'] = await decided(name, asking());
  all['an answer that fails'] = await decided(name, asking(), {
    onQuestion: throwing(new Error('no terminal')) as never,
  });
  return all;
}
