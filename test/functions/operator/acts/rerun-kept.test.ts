import { expect, test } from 'vitest';
import { rerunTask } from '../../../../functions/operator/acts/rerun.ts';
import { ann, KEY, operatorOn, task } from '../operators.ts';

test.each([true, false])('a rerun keeps its arguments as its tool says now: %s', async (keepArguments) => {
  const server = operatorOn([task({ status: 'completed', result: '1', kept: '{"n":1}' })], { keepArguments });
  await rerunTask(KEY, true, ann, server.context);
  const made = server.records.all().find(({ taskId }) => taskId !== KEY.taskId);
  expect(made).toMatchObject({ rerunOf: KEY.taskId });
  expect(made?.kept).toBe(keepArguments ? '{"n":1}' : undefined);
});
