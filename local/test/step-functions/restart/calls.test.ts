import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGAIN } from '../../../step-functions/index.ts';
import { task, until } from '../support.ts';
import { answers, arn, later, useJournal } from './journalled.ts';

const { file, interrupted, open } = useJournal();

describe('a call whose answer was lost', () => {
  it('is repeated as lost, with its id and its first Arguments', async () => {
    const spec = task({ Arguments: { id: '{% $uuid() %}', at: '{% $millis() %}' } });
    const before = answers();
    await interrupted(spec, { task: before.integration }, () => before.calls.length === 1);
    const { calls, integration } = answers('found');
    const local = await open(spec, { task: integration });
    await local.engine.closed(arn);
    const [first, again] = [before.calls[0], calls[0]];
    expect(again).toMatchObject({ lost: true, id: first?.id, arguments: first?.arguments });
    expect(first?.lost).toBe(false);
    expect(await local.describe(arn)).toMatchObject({ output: '"found"' });
  });

  it('of an integration that waits is repeated until it has begun', async () => {
    const spec = task({ Arguments: { id: '{% $uuid() %}', at: '{% $millis() %}' } });
    const waiting = () => {
      const { calls, integration } = answers();
      return { calls, integration: Object.assign(integration, { waits: true } as const) };
    };
    const [first, second, third] = [waiting(), waiting(), waiting()];
    await interrupted(spec, { task: first.integration }, () => first.calls.length === 1);
    const local = await open(spec, { task: second.integration });
    await until(() => second.calls.length === 1);
    for (const _ of [1, 2]) second.calls[0]?.begins();
    await local.engine.stop();
    await open(spec, { task: third.integration });
    await until(() => third.calls.length === 1);
    const { id, arguments: sent } = first.calls[0] ?? {};
    const same = { id, arguments: sent };
    expect([...second.calls, ...third.calls]).toMatchObject([
      { ...same, lost: false },
      { ...same, lost: true },
    ]);
    expect(readFileSync(file(), 'utf8').match(/"type":"called"/g)).toHaveLength(1);
  });

  it('answered AGAIN is evaluated and made once more; its state is not entered again', async () => {
    const spec = task({ Arguments: '{% $millis() %}', TimeoutSeconds: 600 });
    const before = answers();
    await interrupted(spec, { timeScale: 1, task: before.integration }, () => before.calls.length === 1);
    const first = answers(AGAIN);
    const second = await open(spec, { timeScale: 1, task: first.integration, now: later(3_600) });
    await until(() => first.calls.length === 2);
    expect(first.calls).toMatchObject([{ lost: true }, { lost: false }]);
    const [then, now] = first.calls.map((one) => Number(one.arguments));
    expect((now ?? 0) - (then ?? 0)).toBeGreaterThanOrEqual(3_599_990);
    await second.engine.stop();

    const { calls, integration } = answers('done');
    const local = await open(spec, { timeScale: 1, task: integration, now: later(3_601) });
    await local.engine.closed(arn);
    expect(calls).toMatchObject([{ lost: true, arguments: now }]);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"done"' });
    expect((await local.events(arn)).filter((type) => type === 'TaskScheduled')).toHaveLength(1);
    expect(local.snapshot(arn)).toMatchObject({ transitions: 1 });
  });
});
