import type { ArgumentsOf, OutputOf } from 'mcp-task-server/tool';

const strategy = { type: 'string', enum: ['rolling', 'canary', 'all-at-once'] } as const;
export const STRATEGIES = strategy.enum;
export type Strategy = (typeof STRATEGIES)[number];

export type DeployArguments = ArgumentsOf<typeof deployService.inputSchema>;
export type Deployment = OutputOf<typeof deployService.outputSchema>;

export const deployService = {
  title: 'Deploy a service',
  description:
    'Deploys a version of a service to a region of a simulated environment: plans the steps, asks for confirmation, ' +
    'then runs them one by one and reports each. Always runs as a task, which waits some minutes for your answer.',
  taskSupport: 'required',
  inputSchema: {
    type: 'object',
    properties: {
      service: {
        type: 'string',
        pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$',
        description: 'Name of the service: lower-case letters, digits and dashes, e.g. "checkout".',
      },
      region: {
        type: 'string',
        enum: ['us-east-1', 'us-west-2', 'eu-central-1', 'eu-west-1', 'ap-northeast-1'],
        description: 'Where to deploy it.',
      },
      version: {
        type: 'string',
        pattern: '^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$',
        description: 'The version to deploy, e.g. "2.4.0". It must be a fixed one, so not "latest".',
      },
      replicas: { type: 'integer', minimum: 1, maximum: 20, default: 3, description: 'How many copies to run.' },
    },
    required: ['service', 'region', 'version'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      deployed: { type: 'boolean' },
      service: { type: 'string' },
      region: { type: 'string' },
      version: { type: 'string' },
      reason: { type: 'string', description: 'Why it was not deployed.' },
      endpoint: { type: 'string', description: 'Where the service answers.' },
      strategy,
      note: { type: 'string', description: 'The note given with the confirmation.' },
      digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$', description: 'Of what was deployed.' },
      steps: {
        type: 'array',
        description: 'The steps taken, in order.',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, result: { type: 'string' } },
          required: ['title', 'result'],
          additionalProperties: false,
        },
      },
    },
    required: ['deployed', 'service', 'region', 'version', 'steps'],
    additionalProperties: false,
  },
  // A fixed version ends up the same however often it is deployed: a run that crashed may be taken up again.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const;
