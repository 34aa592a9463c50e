import { createRequire } from 'node:module';
import { type Handler, posted, streaming, warmUps } from '../../../lib/code-cache/warm-up.ts';

/** `node probe.ts INDEX`: loads the endpoint, asks it, and prints the answers as one line of JSON. No AWS answers. */
const [index = ''] = process.argv.slice(2);
const account = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };
const aws = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1', AWS_LAMBDA_FUNCTION_NAME: 'f' };
Object.assign(process.env, account, aws, warmUps.endpoint?.env);
Object.assign(globalThis, { awslambda: streaming });
console.error = () => undefined;
console.warn = () => undefined;

const { handler } = createRequire(index)(index) as { handler: Handler };
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};
const requests: readonly (readonly [string, string, object])[] = [
  ['server/discover', '', {}],
  ['tools/list', '', {}],
  ['tools/call', 't', { name: 't', arguments: {} }],
  ['tools/call', 'none', { name: 'none', arguments: {} }],
  ['tasks/get', 'x', { taskId: 'x' }],
  ['nothing', '', {}],
];
const answers: unknown[] = [];
for (const [method, name, params] of requests) {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(name && { 'mcp-name': name }) };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
  answers.push(await posted(handler, body, headers));
}
const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const legacy = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
answers.push(await posted(handler, JSON.stringify(legacy), {}));
answers.push(await posted(handler, 'not JSON', {}));
console.log(JSON.stringify({ answers }));
