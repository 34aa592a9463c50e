import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { close, listen } from '../../../local/testing.ts';

export interface Arrival {
  readonly webhookId: string;
  readonly body: string;
  readonly taken: boolean;
}

/** A receiver that answers with these statuses, one after the other, then always with 204. 0: it hangs up. */
export async function startMoody(statuses: readonly number[]) {
  const left = [...statuses];
  const arrivals: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { type, challenge } = JSON.parse(body);
    if (type === 'verification') return void response.end(JSON.stringify({ challenge }));
    const status = left.shift() ?? 204;
    const webhookId = String(request.headers['webhook-id']);
    arrivals.push({ webhookId, body, taken: status >= 200 && status < 300 });
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end();
  });
  const url = `${await listen(server, 0)}/hook`;
  onTestFinished(() => close(server));
  return { url, arrivals };
}

/** The positions in the log of the events that it took, each at its first copy. */
export function takenBy(arrivals: readonly Arrival[]): string[] {
  const taken = arrivals.filter((one) => one.taken).map(({ body }) => JSON.parse(body).cursor);
  return [...new Set(taken)];
}
