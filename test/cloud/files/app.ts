import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer } from '../../../lib/index.ts';

/** Tools that store files. */
const stack = new Stack(new App(), 'Files');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const timeout = Duration.seconds(60);
server.addToolFile('files', 'test/cloud/files/tool.ts', { timeout });
server.addToolFile('render_film', 'functions/examples/render-film.ts', { timeout });
