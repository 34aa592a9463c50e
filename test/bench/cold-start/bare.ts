import { create, poll } from './clients.ts';
import { answered, type HttpEvent } from './lambda.ts';

/** An empty handler with the AWS clients: no protocol, no checks. */
export const handler = answered(async ({ body }: HttpEvent) => {
  const { id, method, params } = JSON.parse(body);
  if (method === 'server/discover') return JSON.stringify({ jsonrpc: '2.0', id, result: {} });
  const result = method === 'tools/call' ? await create() : await poll(params.taskId);
  return JSON.stringify({ jsonrpc: '2.0', id, result });
});
