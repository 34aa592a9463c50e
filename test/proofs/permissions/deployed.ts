import { setTimeout as sleep } from 'node:timers/promises';
import type { Cloud } from '../../../local/cloud.ts';
import { type Answer, type Headers_, modernRequest } from '../../support/clients.ts';

export type Json = Answer['body'];

/** How often something is checked in a cloud in which nothing was refused. A busy machine also checks less often. */
const LOOKS = 800;
/** The same after a refusal: its consequence is there at once, or there is none. */
const LOOKS_AFTER_REFUSAL = 120;

export interface Caller {
  readonly url: string;
  /** With a token. */
  readonly headers: Headers_;
}

export interface Deployed extends Caller {
  readonly cloud: Cloud;
  readonly lines: readonly string[];
  /** Waits until `look` says something; throws, with `what`, when it does not. */
  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T>;
}

export function untilIn(cloud: Cloud, lines: readonly string[]): Deployed['until'] {
  const refused = () =>
    cloud.calls.since().some(({ error }) => error?.startsWith('AccessDenied')) ||
    lines.some((line) => /^cloud .* may not (?!write its logs)/.test(line));
  return async (what, look) => {
    let afterRefusal = 0;
    for (let looks = 0; ; looks++) {
      const seen = await look();
      if (seen !== undefined) return seen;
      if (refused()) afterRefusal++;
      if (afterRefusal > LOOKS_AFTER_REFUSAL || (afterRefusal === 0 && looks > LOOKS)) throw new Error(what);
      await sleep(25);
    }
  };
}

export const send = ({ url, headers }: Caller, method: string, params: Record<string, unknown>) =>
  modernRequest(url, method, params, { headers });

export async function ask(caller: Caller, method: string, params: Record<string, unknown>): Promise<Json> {
  const { status, body } = await send(caller, method, params);
  if (status !== 200 || body.error !== undefined) throw new Error(`${method}: ${status} ${JSON.stringify(body)}`);
  return body.result;
}
export const call = (caller: Caller, name: string, args: object) =>
  ask(caller, 'tools/call', { name, arguments: args });
export const start = async (deployed: Deployed, name: string, args: object): Promise<string> =>
  (await call(deployed, name, args)).taskId;

export function reaches(
  deployed: Deployed,
  taskId: string,
  status: string,
  more: (task: Json) => boolean = () => true,
) {
  return deployed.until(`a task that is ${status}`, async () => {
    const task = await ask(deployed, 'tasks/get', { taskId });
    return task.status === status && more(task) ? task : undefined;
  });
}

export const stateOf = ({ cloud }: Deployed, name: string) =>
  cloud.stepFunctions.executions().filter((run) => run.name.startsWith(name));

export function allAborted(deployed: Deployed, taskId: string) {
  const over = () => stateOf(deployed, taskId).every(({ status }) => status === 'ABORTED') || undefined;
  return deployed.until('the runs of a task to stop', over);
}

export async function answer(deployed: Deployed, taskId: string): Promise<void> {
  const { inputRequests } = await reaches(deployed, taskId, 'input_required');
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { ok: true } } };
  await send(deployed, 'tasks/update', { taskId, inputResponses });
}
