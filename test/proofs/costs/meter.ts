import { setTimeout as sleep } from 'node:timers/promises';
import type { Cloud } from '../../../local/cloud.ts';
import { unitsSince } from '../../bench/units/meter.ts';
import { POSTED } from '../../support/clients.ts';

/** The costs of one request. */
export interface Cost {
  /** Read units of DynamoDB; of one read if the request is held. */
  readonly read: number;
  /** Write units, including the indexes. */
  readonly write: number;
  /** Bytes of log. */
  readonly log: number;
  /** Bytes of the answer. */
  readonly out: number;
}

interface Request {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** How often a request reads. */
export type Reads = number | 'count';
const progressReads = (cloud: Cloud, mark: number): number =>
  cloud.calls
    .since(mark)
    .filter(({ operation, input }) => operation === 'GetItem' && /"progress#/.test(JSON.stringify(input))).length;

/** A container writes its lines while and after it answers. */
export const LINES = 300;
/** A notification, and the answer to a question, get none. */
const expectsAnswer = (body: unknown): boolean => {
  const { id, method } = body as { readonly id?: unknown; readonly method?: string };
  return id !== undefined && method !== undefined;
};
/**
 * Sends a request, and adds its cost to its row if it is the highest. `logged` counts the bytes that the endpoint has logged so
 * far. `reads`: how often a request that is held reads. `count`: it reads until its task has ended, and each time the progress, too.
 */
export function meterOf(cloud: Cloud, logged: () => number, costs: Map<string, Cost>) {
  const url = `${cloud.url}/mcp`;
  return async (row: string, { body, headers }: Request, reads: Reads = 1, method = 'POST'): Promise<string> => {
    const [mark, before] = [cloud.calls.mark(), logged()];
    const all = Object.entries({ ...POSTED, ...headers }).filter(
      (one): one is [string, string] => one[1] !== undefined,
    );
    const response = await fetch(url, {
      method,
      headers: all,
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== (method === 'POST' && !expectsAnswer(body) ? 202 : 200)) {
      throw new Error(`${row}: ${response.status} ${text.slice(0, 500)}`);
    }
    await sleep(LINES);
    const { read, write, index } = unitsSince(cloud, mark, 'endpoint');
    const now: Cost = {
      read: read / (reads === 'count' ? progressReads(cloud, mark) : reads),
      write: write + index,
      log: logged() - before,
      out: Buffer.byteLength(text),
    };
    const known = costs.get(row) ?? { read: 0, write: 0, log: 0, out: 0 };
    const most = (name: keyof Cost) => Math.max(known[name], now[name]);
    costs.set(row, { read: most('read'), write: most('write'), log: most('log'), out: most('out') });
    return text;
  };
}
