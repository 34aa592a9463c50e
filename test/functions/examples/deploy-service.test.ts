import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { DeployArguments } from '../../../functions/examples/deploy/plan.ts';
import { handler } from '../../../functions/examples/deploy-service.ts';
import { deployService } from '../../../functions/examples/tools.ts';
import type { InputRequired, InputResponse, ToolResult } from '../../../functions/tool/contract.ts';
import { reportProgress } from '../../../functions/tool/progress.ts';

vi.mock('../../../functions/tool/progress.ts', () => ({ reportProgress: vi.fn() }));
// Nothing to wait for in a test.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: async () => {},
}));

const args: DeployArguments = { service: 'checkout', region: 'eu-central-1', version: '2.4.0' };
const valid = new Ajv2020({ strict: true }).compile(deployService.outputSchema);
const task = (round: number) => ({ taskId: 't1', owner: 'o1', table: 'tasks', round, attempt: 0, deadline: 0 });

async function ask(given = args): Promise<InputRequired> {
  const event = {
    name: 'deploy_service',
    arguments: given,
    task: task(1),
    accepts: [],
    inputResponses: {},
    requestState: null,
  };
  return (await handler(event)) as InputRequired;
}

async function answer(confirm: InputResponse, given = args): Promise<ToolResult> {
  const { requestState } = await ask(given);
  // As between rounds: nothing but JSON survives.
  const state: unknown = JSON.parse(JSON.stringify(requestState));
  const event = { name: 'deploy_service', arguments: given, task: task(2), accepts: [], inputResponses: { confirm } };
  return (await handler({ ...event, requestState: state })) as ToolResult;
}

const accept = (content: Record<string, unknown>): InputResponse => ({ action: 'accept', content });

beforeEach(() => {
  vi.mocked(reportProgress).mockReset().mockResolvedValue(true);
});

describe('round 1', () => {
  test('asks for confirmation with one flat form and keeps the plan', async () => {
    const { inputRequests, requestState } = await ask();
    expect(Object.keys(inputRequests)).toEqual(['confirm']);
    const { method, params } = inputRequests.confirm ?? {};
    expect(method).toBe('elicitation/create');
    expect(params).toMatchObject({
      mode: 'form',
      message: expect.stringMatching(/^Deploy checkout 2\.4\.0 to eu-central-1\?/),
      requestedSchema: {
        type: 'object',
        properties: {
          confirm: { type: 'boolean' },
          note: { type: 'string' },
          strategy: { type: 'string', enum: ['rolling', 'canary', 'all-at-once'], default: 'rolling' },
        },
        required: ['confirm'],
      },
    });
    expect(requestState).toMatchObject({
      ...args,
      replicas: 3,
      stages: { rolling: [33, 67, 100], canary: [5, 25, 100] },
    });
    expect(reportProgress).not.toHaveBeenCalled();
  });

  test('the same arguments give the same plan', async () => {
    expect(await ask()).toEqual(await ask());
    expect(await ask()).not.toEqual(await ask({ ...args, replicas: 2 }));
  });

  test.each(['latest', 'Main'])('refuses version %s, which is no fixed one', async (version) => {
    expect(await ask({ ...args, version })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('fixed version') }],
    });
  });

  test.each([null, 'plan', { service: 'checkout' }])(
    'asks again when the plan came back as %o',
    async (requestState) => {
      const inputResponses = { confirm: accept({ confirm: true }) };
      const event = {
        name: 'deploy_service',
        arguments: args,
        task: task(2),
        accepts: [],
        inputResponses,
        requestState,
      };
      expect(await handler(event)).toHaveProperty('inputRequests.confirm');
    },
  );
});

describe('round 2', () => {
  test('a yes runs every step, in order, and tells each', async () => {
    const result = await answer(accept({ confirm: true, note: 'Release 24' }));
    expect(valid(result.structuredContent), JSON.stringify(valid.errors)).toBe(true);
    expect(result.structuredContent).toMatchObject({
      ...args,
      deployed: true,
      strategy: 'rolling',
      endpoint: 'https://checkout.eu-central-1.deploy.example',
      note: 'Release 24',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      steps: [
        { title: 'validate the manifest of checkout 2.4.0' },
        { title: 'compute the content digest' },
        {
          title: 'provision 3 replicas in eu-central-1',
          result: 'eu-central-1a ×1, eu-central-1b ×1, eu-central-1c ×1',
        },
        { title: 'shift 33% of the traffic to 2.4.0', result: expect.stringMatching(/^3[23]\.\d% of 20000 requests/) },
        { title: 'shift 67% of the traffic to 2.4.0', result: expect.stringMatching(/^6[67]\.\d% of 20000 requests/) },
        { title: 'shift 100% of the traffic to 2.4.0', result: expect.stringMatching(/^100\.0% of 20000 requests/) },
        { title: 'smoke-check 3 replicas', result: '3 of 3 healthy' },
      ],
    });
    expect(result.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Deployed checkout 2.4.0') });
    const told = vi.mocked(reportProgress).mock.calls;
    expect(told).toHaveLength(7);
    expect(told[2]).toEqual([task(2), 'Step 3/7: provision 3 replicas in eu-central-1', { progress: 2, total: 7 }]);
  });

  test('the same plan and answer give the same result, another version another digest', async () => {
    const yes = accept({ confirm: true, strategy: 'all-at-once' });
    const result = await answer(yes);
    expect(await answer(yes)).toEqual(result);
    const other = await answer(yes, { ...args, version: '2.4.1' });
    const digests = [result, other].map(({ structuredContent }) => (structuredContent as { digest: string }).digest);
    expect(digests[0]).not.toBe(digests[1]);
  });

  test.each([
    ['canary', ['shift 5%', 'shift 25%', 'shift 100%']],
    ['all-at-once', ['shift 100%']],
    ['backwards', ['shift 33%', 'shift 67%', 'shift 100%']],
  ])('strategy %s moves the traffic its way', async (strategy, shifts) => {
    const { structuredContent } = await answer(accept({ confirm: true, strategy }));
    const { steps } = structuredContent as { steps: { title: string }[] };
    expect(steps.slice(3, -1).map(({ title }) => title.replace(/ of the.*/, ''))).toEqual(shifts);
  });

  test('one replica, many replicas', async () => {
    const shifts = async (replicas: number) => {
      const { requestState } = await ask({ ...args, replicas });
      return (requestState as { stages: { rolling: number[] } }).stages.rolling;
    };
    expect([await shifts(1), await shifts(20)]).toEqual([[100], [25, 50, 75, 100]]);
  });

  test.each([
    [{ action: 'decline' }, 'the confirmation was declined'],
    [{ action: 'cancel' }, 'the confirmation was cancelled'],
    [{}, 'the confirmation was cancelled'],
    [{ action: 'decline', content: { confirm: true } }, 'the confirmation was declined'],
    [accept({ confirm: false }), 'it was not confirmed'],
    [accept({ confirm: 'true' }), 'it was not confirmed'],
    [{ action: 'accept' }, 'it was not confirmed'],
  ])('%o deploys nothing', async (response, reason) => {
    const result = await answer(response);
    expect(result.structuredContent).toEqual({ ...args, deployed: false, reason, steps: [] });
    expect(valid(result.structuredContent)).toBe(true);
    expect(result).not.toHaveProperty('isError');
    expect(reportProgress).not.toHaveBeenCalled();
  });

  test('takes no further step once the task is no longer ours', async () => {
    vi.mocked(reportProgress).mockResolvedValueOnce(true).mockResolvedValueOnce(true).mockResolvedValue(false);
    const { structuredContent } = await answer(accept({ confirm: true }));
    expect(structuredContent).toMatchObject({ deployed: false, reason: 'the task was cancelled' });
    expect((structuredContent as { steps: unknown[] }).steps).toHaveLength(2);
    expect(reportProgress).toHaveBeenCalledTimes(3);
  });
});
