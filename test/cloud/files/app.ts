import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Auth, McpTaskServer } from '../../../lib/index.ts';

/** A tool that stores files. */
const stack = new Stack(new App(), 'Files');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
server.addToolFile('files', 'test/cloud/files/tool.ts', { timeout: Duration.seconds(60) });
