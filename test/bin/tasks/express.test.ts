import { afterEach, expect, test } from 'vitest';
import { ended, modernRequest, poll } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { verbsOn } from './verbs.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/express-app.ts') });
const tasks = verbsOn(cloud);
const url = () => `${cloud().url}/mcp`;
const why = ['--reason', 'INC-7'];
/** All requests to Step Functions since `mark`. */
const askedSince = (mark: number) =>
  new Set(
    cloud()
      .calls.since(mark)
      .filter(({ service }) => service === 'states')
      .map(({ operation }) => operation),
  );
afterEach(() => cloud().faults.clear());

async function started(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  return body.result.taskId;
}

test('show, explain and logs ask Step Functions nothing, and name the log group of its runs', async () => {
  const taskId = await started('spin', { file: '/dev/null' });
  const mark = cloud().calls.mark();
  const group = /\/aws\/vendedlogs\/states\/[\w-]+-express/;
  expect((await tasks('show', taskId)).out).toMatch(group);
  expect((await tasks('show', taskId, '--payload')).out).toContain('/dev/null');
  const explained = (await tasks('explain', taskId, '--json')).json();
  expect(explained).toMatchObject({
    status: 'working',
    cause: 'works on Express',
    row: 'docs/crash-table.md, "On Express"',
  });
  expect(explained.because.join('\n')).toMatch(group);
  const logs = await tasks('logs', taskId);
  expect(`${logs.out}${logs.err}`).toMatch(group);
  const before = cloud().calls.mark();
  expect(await tasks('logs', taskId, '--payload')).toMatchObject({ code: 0 });
  const searched = cloud()
    .calls.since(before)
    .map(({ input }) => JSON.stringify(input));
  expect(searched.find((input) => group.test(input))).toContain(`\\"${taskId}\\"`);
  expect(askedSince(mark)).toEqual(new Set());

  // A cancel says what it cannot do.
  expect((await tasks('cancel', taskId, ...why)).out).toContain('cannot be stopped');
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'cancelled' });
  expect(askedSince(mark)).toEqual(new Set());
});

test('answer starts the next round, and makes no other request', async () => {
  const taskId = await started('ask');
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  const mark = cloud().calls.mark();
  expect((await tasks('answer', taskId, 'ok=true', ...why)).out).toContain('Round 2 runs');
  expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  expect(askedSince(mark)).toEqual(new Set(['StartExecution']));
});
