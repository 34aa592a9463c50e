import { expect, test } from 'vitest';
import { sessionStore } from '../../../../functions/tasks/table/session-notes.ts';
import { conditionFailed, fakeTable } from './fake-table.ts';

/** Notes that other requests change so often before this one's write succeeds. */
function notes(failures: number) {
  let left = failures;
  let version = 7;
  const table = fakeTable((command) => {
    if (command === 'Get')
      return { Item: { owner: 's', taskId: '#session', version: version++, waiting: {}, asked: {} } };
    if (left-- > 0) throw conditionFailed();
    return {};
  });
  const change = () => sessionStore(table.db, 't').updateSession('s', (before) => ({ ...before, logLevel: 'info' }), 1);
  return { ...table, change };
}

test('a change of the notes is tried four times, then the client may send it again (C-37)', async () => {
  const late = notes(3);
  expect(await late.change()).toEqual({ waiting: {}, asked: {}, logLevel: 'info' });
  const never = notes(4);
  await expect(never.change()).rejects.toMatchObject({ data: { reason: 'Unavailable' } });
  expect(never.inputs('Put')).toHaveLength(4);
});

test('each version of the notes is later than the one it was made from', async () => {
  const { change, inputs } = notes(1);
  await change();
  const versions = inputs('Put').map(({ Item, ExpressionAttributeValues: values }) => [
    values?.[':version'],
    Item?.version,
  ]);
  expect(versions).toEqual([
    [7, 8],
    [8, 9],
  ]);
});
