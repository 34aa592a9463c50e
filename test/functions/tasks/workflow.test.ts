import { SFNClient } from '@aws-sdk/client-sfn';
import { HttpResponse } from '@smithy/core/protocols';
import { expect, test } from 'vitest';
import { create } from '../../../functions/tasks/transitions.ts';
import { workflow } from '../../../functions/tasks/workflow.ts';

const task = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = create({ owner: 'o', taskId: 'a' }, task, 0);

/** What a start comes to when Step Functions knows the name, and so many tries before that had no answer. */
function startAfter(unanswered: number) {
  let tries = 0;
  const handle = async () => {
    if (++tries <= unanswered) throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
    const body = new TextEncoder().encode('{"__type":"ExecutionAlreadyExists","message":"it does"}');
    return { response: new HttpResponse({ statusCode: 400, headers: {}, body }) };
  };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const sfn = new SFNClient({ region: 'eu-west-1', credentials, requestHandler: { handle } as never });
  return workflow(sfn, 'arn:').start(record, 't', '{}');
}

test('a name that is taken is another task’s, unless a try before, whose answer was lost, may have taken it (crash table, rows 3 and 6)', async () => {
  expect(await startAfter(0)).toBe('taken');
  expect(await startAfter(1)).toBeUndefined();
});
