import type { PassThrough } from 'node:stream';
import type { calls } from './clients.ts';

/** What API Gateway hands over, as far as the benchmark uses it. */
export interface HttpEvent {
  readonly body: string;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>>;
}

/** A handler that streams one text as its answer, as Lambda calls it. */
export const answered =
  (answer: (event: HttpEvent) => Promise<string>) =>
  async (event: HttpEvent, stream: PassThrough): Promise<void> => {
    stream.end(await answer(event));
  };

/** Answers a create and a poll by these calls, and nothing else of the protocol. */
export const bareHandler = ({ create, poll }: ReturnType<typeof calls>) =>
  answered(async ({ body }: HttpEvent) => {
    const { id, method, params } = JSON.parse(body);
    if (method === 'server/discover') return JSON.stringify({ jsonrpc: '2.0', id, result: {} });
    const result = method === 'tools/call' ? await create() : await poll(params.taskId);
    return JSON.stringify({ jsonrpc: '2.0', id, result });
  });
