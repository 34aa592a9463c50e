import { App, Duration, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer, ToolFunction } from '../../lib/index.ts';
import { definitions } from './tools.ts';

/** The server for clients of other authors. Its inline window is shorter than the runs of its tools. */
const stack = new Stack(new App(), 'Clients');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), inlineWindow: Duration.seconds(2) });
const handler = new ToolFunction(stack, 'Tools', { entry: 'test/clients/tools.ts', timeout: Duration.minutes(4) });
server.addToolFile('render_film', 'functions/examples/render-film.ts', { timeout: Duration.minutes(4) });
for (const [name, definition] of Object.entries(definitions)) server.addTool(name, { ...definition, handler });
