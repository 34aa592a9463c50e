import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { limits } from '../../../functions/tasks/limits.ts';
import { positionText } from '../../../functions/tasks/table/events/log.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { startReceiver } from '../../cloud/events/receiver.ts';
import { modernMessage, modernRequest } from '../../support/clients.ts';
import { type Cost, meterOf } from './meter.ts';

const HEADERS = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=ann/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0',
};
type Item = Readonly<Record<string, unknown>>;

/**
 * The most that the methods of MCP Events can cost, on a cloud of test/cloud/events/unheld-app.ts: of an owner with as many
 * subscriptions as it may have, with URLs as long as they may be, and with a long log.
 */
export async function eventCosts(cloud: Cloud, logged: () => number): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  const add = meterOf(cloud, logged, costs);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud)));
  const [TableName = ''] = cloud.tables;
  const receiver = await startReceiver();
  try {
    const ask = async (method: string, params: Record<string, unknown>) =>
      (await modernRequest(`${cloud.url}/mcp`, method, params, { headers: HEADERS })).body.result;
    const metered = (method: string, params: Record<string, unknown> = {}) => {
      const { body, headers } = modernMessage(method, params);
      return add(`${method}, 2026-07-28`, { body, headers: { ...headers, ...HEADERS } });
    };
    const url = receiver.url.padEnd(limits.mcpEvents.url, 'a');
    const wanted = (args: object, more: object = {}) => ({
      ...{ name: 'task.finished', arguments: args, delivery: { mode: 'webhook', url, secret: receiver.secret } },
      ...more,
    });
    const itemsOf = async (sort: string): Promise<Item[]> => {
      const found: Item[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName })) found.push(...Items);
      return found.filter(({ owner, taskId }) => /^events#/.test(String(owner)) && String(taskId).startsWith(sort));
    };
    const write = async (items: readonly Item[]) => {
      for (let from = 0; from < items.length; from += 25) {
        const some = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
        await client.send(new BatchWriteCommand({ RequestItems: { [TableName]: some } }));
      }
    };

    await metered('events/list');
    await metered('events/poll', { name: 'task.finished' });
    const { taskId } = await ask('tools/call', { name: 'ask', arguments: {} });
    const first = wanted({});
    await metered('events/subscribe', first);
    await ask('tasks/cancel', { taskId });
    await receiver.until(1);

    // As many live ones as there may be, but for one, with all that one may have.
    const [subscription] = await itemsOf('#sub#');
    const clones = Array.from({ length: limits.mcpEvents.subscriptions - 2 }, (_, n) => ({
      ...{ ...subscription, arguments: { taskId, tool: 'x'.repeat(64), status: 'cancelled' } },
      ...{ secrets: Array(2).fill(`whsec_${randomBytes(64).toString('base64')}`), secretUntil: 1_795_344_072_481 },
      ...{ matchedBefore: subscription?.lastMatched, startEvent: `evt_${'x'.repeat(26)}` },
      ...{ failedSince: 1_795_344_072_481, lastError: 'connection_refused', lastDeliveryAt: 1_795_344_072_481 },
      taskId: `#sub#sub_${String(n).padStart(32, '0')}`,
    }));
    await write(clones);

    // A log of more than a replay, of events with all that they may have.
    const isEnd = ({ event }: Item) => (event as { readonly name?: string } | undefined)?.name === 'task.finished';
    const entry = (await itemsOf('#event#')).find(isEnd);
    const [head] = await itemsOf('#head');
    const last = Number(head?.last);
    const event = { ...(entry?.event as object), reason: 'x'.repeat(128), scopes: [] };
    const full = { ...entry, event, summary: 'x'.repeat(limits.mcpEvents.summary) };
    const count = 2 * limits.mcpEvents.replay;
    await write(Array.from({ length: count }, (_, n) => ({ ...full, taskId: `#event#${positionText(last + 1 + n)}` })));
    // The last events came together.
    const pending = Array.from({ length: limits.mcpEvents.together }, () => ({
      at: 1_795_344_072_481,
      event,
      summary: full.summary,
    }));
    await client.send(new PutCommand({ TableName, Item: { ...head, pending, last: last + count } }));
    const cursor = positionText(last);
    await metered('events/poll', { name: 'task.finished', arguments: { taskId }, cursor });
    await metered('events/subscribe', wanted({ taskId, tool: 'ask' }, { cursor }));
    await metered('events/unsubscribe', wanted({ taskId, tool: 'ask' }));
    await metered('events/subscribe', wanted({ taskId }));
    await metered('events/subscribe', wanted({ taskId }));
    await metered('events/unsubscribe', wanted({ taskId }));
    await metered('events/unsubscribe', wanted({ taskId }));
  } finally {
    await receiver.stop();
  }
  return costs;
}
