import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { largestOf } from '../../support/engine/largest.ts';

/** States of the table that are expensive to read, and that no client makes at once. */
export function statesOf(cloud: Cloud) {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud)));
  const [TableName] = cloud.tables;

  async function items(): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for await (const { Items = [] } of paginateScan({ client }, { TableName })) found.push(...Items);
    return found;
  }
  const recordsOf = async (taskIds: readonly string[]): Promise<TaskRecord[]> =>
    (await items()).filter(
      ({ taskId, status }) => status !== undefined && taskIds.includes(String(taskId)),
    ) as unknown as TaskRecord[];

  return {
    /** No run of a tool begins until `free`: its task works, and needs no worker. */
    crowd() {
      const when = ({ worker }: { readonly worker: unknown }) => worker === undefined;
      const fault = { error: 'TooManyRequestsException', status: 429 };
      const full = cloud.faults.add({ service: 'lambda', operation: 'Invoke', when, do: fault, times: 1_000_000 });
      return { free: () => full.remove() };
    },

    /** Each of them has reported as much as a run may. */
    async report(taskIds: readonly string[]): Promise<void> {
      for (const { owner, taskId, round, updatedAt, expiresAt } of await recordsOf(taskIds)) {
        const said = { statusMessage: '\u0001'.repeat(limits.statusMessage), progress: 1, progressTotal: 2 };
        const Item = { owner: `progress#${owner}`, taskId, round, updatedAt: updatedAt + 1, expiresAt, ...said };
        await client.send(new PutCommand({ TableName, Item }));
      }
    },

    /** Until each of them asks. A client that polls for it would note them all. */
    async asking(taskIds: readonly string[]): Promise<void> {
      while ((await recordsOf(taskIds)).some(({ status }) => status !== 'input_required')) await sleep(50);
    },

    /** Each of them holds as much as an open record may. One that asks still does, the others wait. */
    async grow(taskIds: readonly string[]): Promise<void> {
      for (const record of await recordsOf(taskIds)) {
        const { owner, taskId } = record;
        const largest = largestOf(record, record.status === 'input_required' ? record.status : 'waiting');
        const changed = Object.entries(largest).filter(([name, value]) => value !== record[name as keyof TaskRecord]);
        await client.send(
          new UpdateCommand({
            ...{ TableName, Key: { owner, taskId } },
            UpdateExpression: `SET ${changed.map(([name]) => `#${name} = :${name}`).join(', ')}`,
            ExpressionAttributeNames: Object.fromEntries(changed.map(([name]) => [`#${name}`, name])),
            ExpressionAttributeValues: Object.fromEntries(changed.map(([name, value]) => [`:${name}`, value])),
          }),
        );
      }
    },

    /** Each of them asked, was answered 20 s ago, and the request that answered died before it started the next round. */
    async crash(taskIds: readonly string[]): Promise<void> {
      for (const { owner, taskId } of await recordsOf(taskIds)) {
        await client.send(
          new UpdateCommand({
            ...{ TableName, Key: { owner, taskId } },
            UpdateExpression: 'SET #status = :working, #round = :two, updatedAt = :then, inputResponses = :answers',
            ExpressionAttributeNames: { '#status': 'status', '#round': 'round' },
            ExpressionAttributeValues: {
              ...{ ':working': 'working', ':two': 2, ':then': Date.now() - 20_000 },
              ':answers': { 'r1.confirm': '{"action":"accept","content":{"ok":true}}' },
            },
          }),
        );
      }
    },

    /** Notes of sessions, as full as they may be. What they note stays. */
    async fillNotes(): Promise<void> {
      const name = (n: number) => `${'abcdefgh'.repeat(8).slice(0, 60)}${String(n).padStart(3, '0')}`;
      const full = (noted: object, nameOf: (n: number) => string) => {
        const more = Array.from({ length: limits.sessionStream.notes }, (_, n) => [nameOf(n), Date.now()]);
        return Object.fromEntries([...Object.entries(noted), ...more].slice(0, limits.sessionStream.notes));
      };
      for (const { owner, taskId, asked, waiting } of await items()) {
        if (taskId !== '#session') continue;
        await client.send(
          new UpdateCommand({
            ...{ TableName, Key: { owner, taskId } },
            UpdateExpression: 'SET asked = :asked, waiting = :waiting',
            ExpressionAttributeValues: {
              ':asked': full(asked as object, (n) => `${name(n)} abcdefgh`),
              ':waiting': full(waiting as object, name),
            },
          }),
        );
      }
    },
  };
}
