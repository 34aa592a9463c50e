import { profileSchema } from './profile/schema.ts';

/**
 * What each example is registered with; add the function itself: `server.addTool('greet', { ...greet, handler })`.
 * Plain data, so that the CDK app does not load what only the functions need.
 */
export const greet = {
  title: 'Greet',
  description: 'Greets someone by name. Answers at once; use it to check that the server works.',
  taskSupport: 'forbidden',
  timeoutSeconds: 5,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200, description: 'Whom to greet.' },
    },
    required: ['name'],
    additionalProperties: false,
  },
  annotations: {
    title: 'Greet',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
} as const;

export const profileDataset = {
  title: 'Profile a dataset',
  description:
    'Profiles a CSV (some 100,000 rows): for each column its type, missing and distinct values, quantiles, mean and ' +
    'median with confidence intervals, frequent values; and how numeric columns correlate. Send exactly one of `csv`, ' +
    '`sample` or `url`. Takes seconds to minutes and reports its progress, so call it as a task if you can.',
  taskSupport: 'optional',
  timeoutSeconds: 600,
  inputSchema: {
    type: 'object',
    properties: {
      csv: {
        type: 'string',
        minLength: 1,
        maxLength: 200_000,
        description: 'The CSV itself, first row = column names. Up to 200 KB; for more, use `url`.',
      },
      sample: {
        type: 'string',
        enum: ['orders'],
        description: 'A dataset that comes with the server. orders: a year of a web shop, 100,000 rows.',
      },
      url: {
        type: 'string',
        minLength: 1,
        maxLength: 2_000,
        description: 'Public https address of a CSV in UTF-8, gzipped or not, up to 50 MB.',
      },
      delimiter: {
        type: 'string',
        minLength: 1,
        maxLength: 1,
        pattern: '^[^"\\r\\n]$',
        description: 'What separates fields. Default: whichever of , ; tab | splits the first row most often.',
      },
      columns: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: 200,
        uniqueItems: true,
        description: 'Names of the columns to profile. Default: all, at most 200.',
      },
      bootstrap: {
        type: 'integer',
        minimum: 0,
        maximum: 1_000,
        default: 500,
        description: 'Resamples behind the confidence intervals; more take longer, 0 leaves the intervals out.',
      },
    },
    additionalProperties: false,
  },
  outputSchema: profileSchema,
  annotations: {
    title: 'Profile a dataset',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
} as const;

export const deployService = {
  title: 'Deploy a service',
  description:
    'Deploys a version of a service to a region of a simulated environment: plans the steps, asks for confirmation, ' +
    'then runs them one by one and reports each. Always runs as a task, which waits for your answer as long as it lives.',
  taskSupport: 'required',
  timeoutSeconds: 120,
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
      strategy: { type: 'string', enum: ['rolling', 'canary', 'all-at-once'] },
      note: { type: 'string', description: 'The note given with the confirmation.' },
      digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$', description: 'Of what was deployed.' },
      steps: {
        type: 'array',
        description: 'The steps taken, in order.',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, result: { type: 'string' } },
          required: ['title', 'result'],
        },
      },
    },
    required: ['deployed', 'service', 'region', 'version', 'steps'],
  },
  annotations: {
    title: 'Deploy a service',
    readOnlyHint: false,
    destructiveHint: true,
    openWorldHint: false,
  },
} as const;
