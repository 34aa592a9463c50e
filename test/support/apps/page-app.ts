import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { researchTopic } from '../../../functions/examples/research/definition.ts';
import { anonymous, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** What the page of the tasks has to show: questions, failures, retries, and texts that are no friends. */
const stack = new Stack(new App(), 'Shop');
const server = new McpTaskServer(stack, 'Server', { auth: anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const toolFunction = (id: string, entry: string) =>
  new ToolFunction(stack, id, { entry, timeout: Duration.seconds(60) });

const research = toolFunction('Research', 'functions/examples/research-topic.ts');
server.addTool('research_topic', { ...researchTopic, handler: research });

const handler = toolFunction('Tools', 'test/support/apps/tools.ts');
const tool = { handler, inputSchema: { type: 'object' }, taskSupport: 'required' } as const;
server.addTool('throws', { ...tool, description: 'Throws' });
server.addTool('echo', { ...tool, description: 'Returns its arguments' });
server.addTool('sleep', { ...tool, description: 'Sleeps' });
server.addTool('confide', { ...tool, description: 'Passes on each text that it gets' });
server.addTool('ask_two', { ...tool, description: 'Asks two questions at once' });
server.addTool('ask_url', { ...tool, description: 'Asks by URL' });
server.addTool('charge_then_crash', { ...tool, description: 'Crashes', annotations: { idempotentHint: true } });
