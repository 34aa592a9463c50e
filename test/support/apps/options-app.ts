import { App, Duration, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { LogLevel } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';
import { AUDIENCE } from '../oidc.ts';

/** A server with every option of docs/deploying.md. */
const stack = new Stack(new App(), 'Options', { env: { region: 'us-east-1' } });
const encryptionKey = new Key(stack, 'Key', { enableKeyRotation: true });
const certificateArn = 'arn:aws:acm:us-east-1:000000000000:certificate/11111111-2222-3333-4444-555555555555';
const zone = { hostedZoneId: 'Z0000000000000', zoneName: 'example.com' };

const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.oauth({ issuer: process.env.MCP_TEST_ISSUER ?? 'https://login.example.com', audience: AUDIENCE }),
  domain: {
    name: 'mcp.example.com',
    certificate: Certificate.fromCertificateArn(stack, 'Certificate', certificateArn),
    hostedZone: HostedZone.fromHostedZoneAttributes(stack, 'Zone', zone),
  },
  encryptionKey,
  logRetention: RetentionDays.ONE_YEAR,
  keyRotation: Duration.days(30),
  throttling: { rateLimit: 50, burstLimit: 100 },
  accessLogs: true,
  waf: true,
  metricsByTool: false,
  workflowLogLevel: LogLevel.ERROR,
  warmThroughput: { readUnitsPerSecond: 24_000, writeUnitsPerSecond: 12_000 },
  sweepChecksPerSecond: 30,
  events: { hold: Duration.minutes(1) },
});

const tool = { description: 'A tool', inputSchema: { type: 'object' } } as const;
const handler = new ToolFunction(stack, 'Tool', {
  entry: 'test/proofs/permissions/tools.ts',
  timeout: Duration.seconds(60),
});
const told = new ToolFunction(stack, 'Told', {
  entry: 'test/proofs/permissions/tools.ts',
  handler: 'told',
  timeout: Duration.seconds(10),
});
server.onTaskStatusChange('Ended', { target: new LambdaFunction(told), tool: 'work', status: ['completed', 'failed'] });
server.addTool('direct', { ...tool, handler });
server.addTool('work', { ...tool, handler, taskSupport: 'required' });
server.addTool('quick', {
  ...tool,
  ...{ handler, taskSupport: 'required', engine: 'express', annotations: { readOnlyHint: true } },
});
