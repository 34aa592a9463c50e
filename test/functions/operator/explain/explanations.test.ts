import { expect, test } from 'vitest';
import { type Explanation, explain } from '../../../../functions/operator/explain/index.ts';
import { ROWS } from '../../../../functions/operator/explain/rows.ts';
import { FAILURES, type FailureReason } from '../../../../functions/tasks/failures.ts';
import { fakeClient } from '../../../support/aws-client.ts';
import { arnOf, denied, KEY, MINUTE, operatorOn, T0, task } from '../operators.ts';
import { explained, failed, OWN } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const textOf = (title: string, { taskId: _, ...told }: Explanation): string =>
  [
    `# ${title}`,
    `${told.status}: ${told.cause} (row ${told.row || 'none'})${told.endsBy === undefined ? '' : `, ends by ${told.endsBy - T0} ms`}`,
    ...told.because,
    ...told.next.map((command) => `> ${command}`),
    ...(told.rerunRefusal === undefined ? [] : [`no rerun: ${told.rerunRefusal.split(' ').slice(0, 6).join(' ')}`]),
  ].join('\n');

/** A change that is meant is written to the file by `npm test -- test/functions/operator/explain --update`. */
test('explain says of each scenario what explanations.txt says', async () => {
  const all = await Promise.all(
    Object.entries(SCENARIOS).map(async ([title, scenario]) => textOf(title, await explained(scenario))),
  );
  await expect(`${all.join('\n\n').replaceAll(KEY.taskId, 'ID')}\n`).toMatchFileSnapshot('explanations.txt');
});

test('each row explains a scenario, and each reason of a failure has the row that it names', async () => {
  const causes = await Promise.all(Object.values(SCENARIOS).map(async (scenario) => (await explained(scenario)).cause));
  const rows: readonly string[] = ROWS.map(({ name }) => name);
  expect(rows.filter((name) => !causes.includes(name))).toEqual([]);
  for (const reason of Object.keys(FAILURES) as FailureReason[]) {
    const { cause, row } = await explained({ record: failed(reason) });
    expect(cause, reason).not.toBe('gone before its end');
    expect(row, reason).toBe(FAILURES[reason].row);
  }
});

test('states that the credentials may not read are not known, and any other failure is thrown', async () => {
  const { executions, context } = operatorOn([task()], { stateMachineArn: OWN });
  executions.put(arnOf());
  const { send } = context.states;
  const failing = (error: Error) => {
    const refuse = (command: { input: { executionArn?: string } }) =>
      command.input.executionArn?.includes('S-own:') ? Promise.reject(error) : send(command as never);
    return explain(KEY, false, { ...context, states: { send: refuse } as never });
  };
  expect((await failing(denied())).because[1]).toContain('What its state machine does is not known');
  await expect(failing(new TypeError('down'))).rejects.toThrow('down');
});

test('of a run that the credentials may not ask about it says just that', async () => {
  const { context } = operatorOn([task()], { stateMachineArn: OWN, changedAt: T0 - 1 });
  const states = { send: () => Promise.reject(denied()) } as never;
  expect(await explain(KEY, false, { ...context, states })).toMatchObject({
    cause: 'works',
    because: ['It works. What its run does is not known: your credentials may not ask for it.'],
  });
});

test('dead letters and a sweep that is 3 minutes late are named, whatever the task', async () => {
  const queued = (counts: Readonly<Record<string, string | Error>>, dueAt?: number) => {
    const sqs = fakeClient<never>(async (_operation, input) => {
      const { QueueUrl, AttributeNames } = input as { QueueUrl: string; AttributeNames: readonly string[] };
      const count = counts[QueueUrl];
      if (count instanceof Error) throw count;
      const known = { ApproximateNumberOfMessages: count, ApproximateNumberOfMessagesDelayed: '9' };
      const asked = Object.entries(known).filter(([name]) => AttributeNames.includes(name));
      return count === undefined ? {} : { Attributes: Object.fromEntries(asked) };
    });
    const { context } = operatorOn([task({ dueAt: dueAt ?? T0 })], {}, { sqs });
    const deadLetters = { events: 'a', reconciler: 'b' };
    return explain(KEY, false, { ...context, server: { ...context.server, deadLetters } }).then(({ also }) => also);
  };
  expect(await queued({ a: '1', b: '2' })).toEqual([
    expect.stringContaining('of the events function holds 1 message: docs/recovery.md'),
    expect.stringContaining('of the reconciler function holds 2 messages: docs/recovery.md'),
  ]);
  expect(await queued({ a: '0', b: denied() })).toEqual([]);
  await expect(queued({ a: new TypeError('down') })).rejects.toThrow('down');
  expect(await queued({}, T0 - 2 * MINUTE)).toEqual([]);
  expect(await queued({}, T0 - 2 * MINUTE - 1)).toEqual([
    expect.stringContaining('should have checked this task 3 minutes ago'),
  ]);
});
