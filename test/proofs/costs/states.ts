import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';

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

    /** Each of them waits for as much as a record may, and has as many signals and events as it may. */
    async wait(taskIds: readonly string[]): Promise<void> {
      const { ofRound, bytes } = limits.waits;
      const wait = { kind: 'link', until: Date.now() + 3_600_000 };
      const room = (bytes - '{}'.length) / ofRound - Buffer.byteLength(JSON.stringify(wait)) - '"":,'.length;
      const names = Array.from({ length: ofRound }, (_, n) => `${n} `.padEnd(Math.floor(room), 'x'));
      const events = Array.from({ length: limits.events.others }, (_, n) => {
        const at = Date.now() + n;
        return { at, what: 'signalled', by: 'reconciler', round: 10, startedAt: at, retries: 1 };
      });
      for (const { owner, taskId } of await recordsOf(taskIds)) {
        await client.send(
          new UpdateCommand({
            ...{ TableName, Key: { owner, taskId } },
            UpdateExpression: 'SET #status = :waiting, waits = :waits, signalled = :signalled, events = :events',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: {
              ...{ ':waiting': 'waiting', ':events': events, ':signalled': names.slice(1) },
              ':waits': JSON.stringify(Object.fromEntries(names.map((name) => [name, wait]))),
            },
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
