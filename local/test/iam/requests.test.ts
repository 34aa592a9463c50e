import { expect, test } from 'vitest';
import { createRequests } from '../../iam/requests.ts';
import type { Specs } from '../../template/specs.ts';

const requests = createRequests({} as Specs, { region: 'eu-central-1', account: '111122223333' });

test.each([
  ['SendMessage', 'SendMessage'],
  ['SendMessageBatch', 'SendMessage'],
  ['ReceiveMessage', 'ReceiveMessage'],
  ['DeleteMessageBatch', 'DeleteMessage'],
  ['ChangeMessageVisibility', 'ChangeMessageVisibility'],
  ['ChangeMessageVisibilityBatch', 'ChangeMessageVisibility'],
  ['GetQueueAttributes', 'GetQueueAttributes'],
])('the operation %s of SQS needs the action %s on its queue', (operation, action) => {
  const QueueUrl = 'https://sqs.eu-central-1.amazonaws.com/111122223333/work.fifo';
  const call = { service: 'sqs', operation, caller: 'F', input: () => ({ QueueUrl }) };
  expect(requests(call as never)).toEqual([
    { action: `sqs:${action}`, resource: 'arn:aws:sqs:eu-central-1:111122223333:work.fifo', context: {} },
  ]);
});
