import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { definition } from '../../../lib/workflow/definition.ts';
import { changedAssembly, useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';

/** The definitions of release 0.1, which runs that began before an upgrade keep. */
const earlier = JSON.parse(readFileSync(new URL('../../fixtures/workflows-0.1.json', import.meta.url), 'utf8'));
const assembly = changedAssembly((text) => {
  const template = JSON.parse(text);
  for (const { Type, Properties } of Object.values<{ Type: string; Properties: { DefinitionString: unknown } }>(
    template.Resources,
  )) {
    if (Type !== 'AWS::StepFunctions::StateMachine') continue;
    const repeatable = Properties.DefinitionString === definition(true);
    expect(repeatable || Properties.DefinitionString === definition(false)).toBe(true);
    Properties.DefinitionString = JSON.stringify(repeatable ? earlier.repeatable : earlier.function);
  }
  return JSON.stringify(template);
});

describe('functions of this release under the workflows of release 0.1', () => {
  const { url } = useCrashCloud({ assembly });
  const json = '{"id":9007199254740991,"text":"12345678901234567890","lone":"\\ud800"}';

  test('a defined tool completes, digit for digit', async () => {
    const { status, result } = await runTask(url(), 'returns_exactly', { json });
    expect({ status, structuredContent: result.structuredContent }).toEqual({
      status: 'completed',
      structuredContent: JSON.parse(json),
    });
  });

  test('a plain one, too', async () => {
    expect((await runTask(url(), 'returns', { json })).result.structuredContent).toEqual(JSON.parse(json));
  });

  test('a tool that asks gets its answer', async () => {
    const { taskId } = (await modernRequest(url(), 'tools/call', { name: 'ask', arguments: {} })).body.result;
    await poll(url(), taskId, (task) => task.status === 'input_required');
    const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses });
    expect((await poll(url(), taskId, ended)).result.structuredContent).toMatchObject({
      requestState: { n: 9007199254740991 },
      round: 2,
    });
  });

  test('a tool that fails, fails', async () => {
    expect(await runTask(url(), 'throws')).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'TypeError' } },
    });
  });
});
