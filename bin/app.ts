import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer } from 'mcp-task-server';
import { inspectRegions } from '../functions/examples/inspect-regions.ts';

/** The app you edit: one server and its tools. */
const app = new App();
const stack = new Stack(app, 'McpTaskServer', { description: 'MCP tools as durable tasks' });

const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.anonymous(),
  serverInfo: { name: 'mcp-task-server', version: '0.1.0', title: 'MCP task server' },
  // This is for a trial. Once the stack has real tasks, remove the line: RETAIN is the default.
  removalPolicy: RemovalPolicy.DESTROY,
  maxTtl: Duration.days(7), // how long a task may live
});

server.addToolFile('greet', 'functions/examples/greet.ts', { timeout: Duration.seconds(5) });
server.addToolFile('nightly_report', 'functions/examples/nightly-report.ts', {
  timeout: Duration.minutes(1), // of one run
  tool: { timeout: Duration.days(2) }, // of the task, with all its waits
});
// Where their other systems are. Without an address, a mail or a job is only logged.
const { MAIL_URL = '', TRAINER_URL = '', SITE_URL = 'https://example.com' } = process.env;
server.addToolFile('approve_purchase', 'functions/examples/approve-purchase.ts', {
  timeout: Duration.seconds(30),
  environment: { MAIL_URL },
  tool: { timeout: Duration.days(3) },
});
server.addToolFile('train_model', 'functions/examples/train-model.ts', {
  timeout: Duration.seconds(30),
  environment: { TRAINER_URL },
  tool: { timeout: Duration.hours(7) },
});
server.addToolFile('crawl_site', 'functions/examples/crawl-site.ts', {
  timeout: Duration.minutes(15),
  environment: { SITE_URL },
  tool: { timeout: Duration.hours(4) },
});
server.addToolFile('render_film', 'functions/examples/render-film.ts', {
  timeout: Duration.minutes(15),
  memorySize: 512, // MB: the parts of a file that are on their way
});
// A state machine, or a function in another language, is described here.
server.addTool('inspect_regions', {
  ...inspectRegions,
  stateMachine: new StateMachine(stack, 'inspect-regions', {
    definitionBody: DefinitionBody.fromFile('functions/examples/inspect-regions.asl.json'),
  }),
});
