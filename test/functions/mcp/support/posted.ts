import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { endpoint as real } from '../../../../functions/mcp/endpoint.ts';
import type { HttpReply, HttpRequest } from '../../../../functions/mcp/http/http.ts';

/** The endpoint, for tests that are not about the content type: what they post is JSON unless they say otherwise. */
export function endpoint(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  const type = request.method === 'POST' ? { 'content-type': 'application/json' } : {};
  return real({ ...request, headers: { ...type, ...request.headers } }, server);
}
