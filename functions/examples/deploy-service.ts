import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool, elicitForm, type Task, ToolError } from 'mcp-task-server/tool';

/** Stands for the remote system that does a step. */
const REMOTE_MS = 1_050;
/** For each strategy, the share of the traffic on the new version after each stage, in percent. */
const STAGES = { rolling: [33, 67, 100], canary: [5, 25, 100], 'all-at-once': [100] } as const;
const STRATEGIES = ['rolling', 'canary', 'all-at-once'] as const;
const TEXT = { type: 'string' } as const;

interface Plan {
  readonly service: string;
  readonly region: string;
  readonly version: string;
  readonly replicas: number;
}

/** Plans and asks. On a yes it carries the plan out, step by step. */
export const handler = defineTool(
  {
    title: 'Deploy a service',
    description:
      'Deploys a version of a service to a region of a simulated environment: plans the steps, asks for confirmation, ' +
      'then runs them one by one and reports each. Always runs as a task, which waits some minutes for your answer.',
    taskSupport: 'required',
    inputSchema: {
      type: 'object',
      properties: {
        service: { type: 'string', pattern: '^[a-z][a-z0-9-]{1,39}$', description: 'Its name, e.g. "checkout".' },
        region: { type: 'string', enum: ['us-east-1', 'us-west-2', 'eu-central-1', 'eu-west-1', 'ap-northeast-1'] },
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
        reason: { type: 'string', description: 'Why it was not deployed.' },
        endpoint: { type: 'string', description: 'Where the service answers.' },
        strategy: { type: 'string', enum: STRATEGIES },
        note: TEXT,
        digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$', description: 'The digest of the plan.' },
        steps: { type: 'array', items: TEXT, description: 'The steps taken, in order.' },
      },
      required: ['deployed', 'steps'],
      additionalProperties: false,
    },
    // A fixed version has the same effect however often it is deployed: a run that crashed may be taken up again.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  async ({ replicas = 3, ...args }, task) => {
    const plan = { ...args, replicas };
    const { service, region, version } = plan;
    if (version === 'latest') throw new ToolError('"latest" may change: send a fixed version, e.g. 2.4.0.');
    const { confirm } = await task.requireInput({ confirm: confirmation(plan) });
    if (confirm.action !== 'accept' || !confirm.content.confirm) {
      const reason = confirm.action === 'accept' ? 'it was not confirmed' : `the client answered ${confirm.action}`;
      const text = `${service} ${version} was not deployed to ${region}: ${reason}.`;
      return { content: [{ type: 'text', text }], structuredContent: { deployed: false, reason, steps: [] } };
    }
    const { strategy = 'rolling', note } = confirm.content;
    const { digest, steps } = await release(plan, strategy, task);
    const endpoint = `https://${service}.${region}.deploy.example`;
    const text = `Deployed ${service} ${version} to ${region} (${strategy}): ${endpoint}\n${digest}`;
    const done = { deployed: true, endpoint, strategy, digest, steps, ...(note !== undefined && { note }) };
    return { content: [{ type: 'text', text }], structuredContent: done };
  },
);

function confirmation(plan: Plan) {
  const steps = stepsOf(plan, 'rolling').map((title, index) => `${index + 1}. ${title}`);
  return elicitForm(
    `Deploy ${plan.service} ${plan.version} to ${plan.region}? The plan (rolling):\n${steps.join('\n')}`,
    {
      confirm: { type: 'boolean', title: 'Deploy now', description: 'Nothing happens unless you say yes.' },
      strategy: { type: 'string', title: 'Strategy', enum: STRATEGIES, default: 'rolling' },
      note: { type: 'string', title: 'Note', description: 'Kept with the result.', maxLength: 500 },
    },
    ['strategy', 'note'],
  );
}

function stepsOf({ service, region, version, replicas }: Plan, strategy: keyof typeof STAGES): string[] {
  return [
    `validate the manifest of ${service} ${version}`,
    `provision ${replicas} replicas in ${region}`,
    ...STAGES[strategy].map((percent) => `shift ${percent}% of the traffic to ${version}`),
    `smoke-check ${replicas} replicas`,
  ];
}

/** Carries the plan out. A run that takes it up again finds finished steps done, and a cancel ends it between two steps. */
async function release(plan: Plan, strategy: keyof typeof STAGES, task: Task) {
  const steps = stepsOf(plan, strategy);
  const digest = createHash('sha256').update(JSON.stringify(plan)).digest('hex');
  for (const [index, title] of steps.entries()) {
    await task.progress(`Step ${index + 1}/${steps.length}: ${title}`, { progress: index, total: steps.length });
    await task.step(`step ${index + 1}`, () => sleep(REMOTE_MS, undefined, { signal: task.signal }));
  }
  return { digest: `sha256:${digest}`, steps };
}
