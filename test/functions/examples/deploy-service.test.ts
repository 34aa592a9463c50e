import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/examples/deploy-service.ts';
import type { InputResponse, ToolResult } from '../../../functions/tool/index.ts';
import { runTool } from '../../../functions/tool/testing.ts';

// Files share a process: another one may have loaded what is replaced here.
vi.hoisted(() => vi.resetModules());

// Nothing to wait for in a test.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: async () => {},
}));

const args = { service: 'checkout', region: 'eu-central-1', version: '2.4.0' } as const;
const valid = new Ajv2020({ strict: true }).compile(handler.definition.outputSchema ?? {});

interface Deployment {
  readonly steps: readonly string[];
  readonly digest?: string;
}
const accept = (content: Record<string, unknown>): InputResponse => ({ action: 'accept', content });

async function deploy(confirm: InputResponse) {
  const ran = await runTool(handler, args, { answers: { confirm } });
  const { structuredContent, ...result } = ran.result as ToolResult<Deployment>;
  if (structuredContent === undefined) throw new Error('There is no structured content');
  expect(valid(structuredContent), JSON.stringify(valid.errors)).toBe(true);
  return { ...ran, result, outcome: structuredContent };
}

describe('the question', () => {
  test('is one flat form, asked before anything happens', async () => {
    const { asked, rounds, progress } = await deploy({ action: 'decline' });
    expect(asked).toEqual({
      confirm: {
        method: 'elicitation/create',
        params: {
          message: expect.stringMatching(/^Deploy checkout 2\.4\.0 to eu-central-1\?.*\n2\. provision 3 replicas/s),
          requestedSchema: {
            type: 'object',
            properties: {
              confirm: expect.objectContaining({ type: 'boolean' }),
              note: expect.objectContaining({ type: 'string' }),
              strategy: expect.objectContaining({ enum: ['rolling', 'canary', 'all-at-once'], default: 'rolling' }),
            },
            required: ['confirm'],
          },
        },
      },
    });
    expect([rounds, progress]).toEqual([2, []]);
  });

  test('is not asked for a version that is not a fixed one', async () => {
    const { result, asked } = await runTool(handler, { ...args, version: 'latest' });
    expect(result).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/fixed version/) }],
    });
    expect(asked).toEqual({});
  });
});

describe('a yes', () => {
  test('runs every step, in order, and reports each', async () => {
    const { outcome, result, progress } = await deploy(accept({ confirm: true, note: 'Release 24' }));
    expect(outcome).toEqual({
      deployed: true,
      strategy: 'rolling',
      endpoint: 'https://checkout.eu-central-1.deploy.example',
      note: 'Release 24',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      steps: [
        'validate the manifest of checkout 2.4.0',
        'provision 3 replicas in eu-central-1',
        'shift 33% of the traffic to 2.4.0',
        'shift 67% of the traffic to 2.4.0',
        'shift 100% of the traffic to 2.4.0',
        'smoke-check 3 replicas',
      ],
    });
    expect(result.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Deployed checkout 2.4.0') });
    expect(progress).toHaveLength(6);
    expect(progress[1]).toEqual({ message: 'Step 2/6: provision 3 replicas in eu-central-1', progress: 1, total: 6 });
  });

  test('to the same gives the same, to another version another digest', async () => {
    const yes = accept({ confirm: true, strategy: 'all-at-once' });
    const { outcome } = await deploy(yes);
    expect((await deploy(yes)).outcome).toEqual(outcome);
    const { result } = await runTool(handler, { ...args, version: '2.4.1' }, { answers: { confirm: yes } });
    expect((result as ToolResult<Deployment>).structuredContent?.digest).not.toBe(outcome.digest);
  });

  test.each([
    ['canary', ['5%', '25%', '100%']],
    ['all-at-once', ['100%']],
  ])('strategy %s moves the traffic its way', async (strategy, shifts) => {
    const { outcome } = await deploy(accept({ confirm: true, strategy }));
    expect(outcome.steps.slice(2, -1)).toEqual(shifts.map((share) => `shift ${share} of the traffic to 2.4.0`));
  });
});

test.each([
  [{ action: 'decline' }, 'the client answered decline'],
  [{ action: 'cancel' }, 'the client answered cancel'],
  [{ action: 'decline', content: { confirm: true } }, 'the client answered decline'],
  [accept({ confirm: false }), 'it was not confirmed'],
])('%o deploys nothing', async (response, reason) => {
  const { outcome, result, progress } = await deploy(response);
  expect(outcome).toEqual({ deployed: false, reason, steps: [] });
  expect(result).not.toHaveProperty('isError');
  expect(progress).toEqual([]);
});

test('takes no further step once the task is cancelled', async () => {
  const confirm = accept({ confirm: true });
  const { result, progress } = await runTool(handler, args, { answers: { confirm }, cancelInRound: 2 });
  expect(result).toMatchObject({ isError: true });
  expect(progress).toHaveLength(1);
});
