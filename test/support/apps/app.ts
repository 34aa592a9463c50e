import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** The app of most tests: one function that serves every tool of ./tools.ts. */
const stack = new Stack(new App(), 'Test');
// The Express variant: every tool may be repeated and runs on Express, except `charge_once`.
const express = process.env.MCP_TEST_ENGINE === 'express';
export const engine = express ? ({ engine: 'express', annotations: { idempotentHint: true } } as const) : {};
const once = express ? ({ engine: 'standard', annotations: {} } as const) : {};
export const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(express ? 240 : 300),
});
// The brief variant: windows and holds of this many seconds.
const brief = process.env.MCP_TEST_BRIEF;
export const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  removalPolicy: RemovalPolicy.DESTROY,
  ...(brief && {
    inlineWindow: Duration.seconds(Number(brief)),
    holdCap: Duration.seconds(Number(brief)),
    maxTtl: Duration.hours(1),
  }),
});

const any = { type: 'object' } as const;
const nameForm = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const numbers = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } }, required: [name] });
const optional = { handler, inputSchema: any, taskSupport: 'optional', ...engine } as const;
const required = { handler, inputSchema: any, taskSupport: 'required', ...engine } as const;

server.addTool('direct_echo', { handler, description: 'Returns its arguments', inputSchema: any });
server.addTool('echo', { ...optional, description: 'Returns its arguments' });
server.addTool('returns', {
  ...optional,
  description: 'Returns the given JSON',
  annotations: { idempotentHint: true },
});
server.addTool('returns_exactly', { ...optional, description: 'Returns the given JSON, digit for digit' });
server.addTool('hold', { ...optional, description: 'Waits for a file', timeout: Duration.minutes(10) });
server.addTool('sleep', {
  ...optional,
  description: 'Waits',
  inputSchema: numbers('ms'),
  timeout: Duration.seconds(30),
});
server.addTool('steps', { ...optional, description: 'Reports steps', inputSchema: numbers('steps') });
server.addTool('throws', { ...optional, description: 'Throws' });
server.addTool('direct_throws', { handler, description: 'Throws', inputSchema: any });
server.addTool('brief', { ...optional, description: 'Works longer than it may', timeout: Duration.seconds(1) });
server.addTool('big', { ...optional, description: 'Returns many bytes', inputSchema: numbers('bytes') });
server.addTool('counter', { ...optional, description: 'Counts invocations of its container' });
server.addTool('event', { ...optional, description: 'Returns its event' });
server.addTool('ask', { ...required, description: 'Asks once' });
server.addTool('ask_two', { ...required, description: 'Asks two questions at once' });
server.addTool('ask_twice', { ...required, description: 'Asks the same twice' });
server.addTool('ask_first', {
  ...required,
  description: 'Asks before its task exists',
  askFirst: { who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: nameForm } } },
});
server.addTool('ask_optional', { ...optional, description: 'Asks once, task or not' });
server.addTool('ask_url', { ...optional, description: 'Asks by URL' });
server.addTool('ask_model', { ...optional, description: "Asks the client's model" });
server.addTool('direct_ask', { handler, description: 'Asks without a task', inputSchema: any });
server.addTool('broken_promise', {
  ...optional,
  description: 'Breaks its outputSchema',
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
});
server.addTool('slow_promise', {
  ...optional,
  description: 'Keeps its outputSchema, later',
  outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
});
server.addTool('charge_then_crash', {
  ...optional,
  description: 'May be repeated',
  annotations: { idempotentHint: true },
});
server.addTool('charge_once', { ...optional, ...once, description: 'May not be repeated' });
server.addTool('spin', { ...optional, description: 'Works until its signal aborts' });
server.addTool('with_header', {
  handler,
  description: 'An argument that travels in a header, too',
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
});
