import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** Tools whose schemas take years to check certain short arguments or results, without any guard. */
const stack = new Stack(new App(), 'Slow');
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  removalPolicy: RemovalPolicy.DESTROY,
  inlineWindow: Duration.seconds(1),
  holdCap: Duration.seconds(1),
});
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(60),
});
const tool = { handler, description: 'd', taskSupport: 'forbidden' } as const;
server.addTool('direct_echo', { ...tool, inputSchema: { type: 'object' } });
server.addTool('echo', { ...tool, taskSupport: 'optional', inputSchema: { type: 'object' } });

const slug = { slug: { type: 'string', pattern: '^([a-z0-9]+-?)+$' } } as const;
const node = { properties: { next: { $ref: '#/$defs/node' } }, minProperties: 1 };
const choice = (n: number) => ({ kind: 'choice', of: { n, more: [n, 'x'] } });
const schemas = {
  slug: { properties: slug },
  rows: { properties: { rows: { type: 'array', uniqueItems: true } } },
  keys: { patternProperties: { '^(a+)+$': { type: 'number' } } },
  names: { propertyNames: { pattern: '^(\\w+\\s?)*$' } },
  // Each level is checked twice, so that 40 of them take 2^40 steps.
  tree: { properties: { tree: { $ref: '#/$defs/node' } }, $defs: { node: { anyOf: [node, node] } } },
  choices: {
    properties: { list: { type: 'array', items: { enum: Array.from({ length: 2_000 }, (_, n) => choice(n)) } } },
  },
  words: { properties: { text: { allOf: Array.from({ length: 100 }, (_, n) => ({ pattern: `(.*a.*b.*${n})?$` })) } } },
  found: { properties: { list: { type: 'array', minContains: 1, contains: { pattern: '^(x+x+)+y$' } } } },
} as const;
for (const [name, schema] of Object.entries(schemas))
  server.addTool(name, { ...tool, inputSchema: { type: 'object', ...schema } });

/** Tools that return their arguments: the check of the result is slow. */
const promises = { ...tool, taskSupport: 'optional', inputSchema: { type: 'object' } } as const;
server.addTool('promises_slug', { ...promises, outputSchema: { type: 'object', properties: slug } });
server.addTool('promises_tree', { ...promises, outputSchema: { type: 'object', ...schemas.tree } });
