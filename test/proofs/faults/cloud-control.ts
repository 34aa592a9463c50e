import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';

/** A cloud, and what an operator can do with it past all clients. */
export interface CloudControl {
  readonly cloud: Cloud;
  readonly url: string;
  /** What lies in the table, of tasks created since. */
  records(since: number): Promise<TaskRecord[]>;
  /**
   * Moves the clock between two last writes of workflows, as no call is under way for minutes; not at all if a second
   * has no moment between two. Answers whether it did. @param isBusy whether another call is under way
   */
  advance(ms: number, isBusy?: () => boolean): Promise<boolean>;
  /** One tick of the sweep's schedule; nothing where there is no such schedule. */
  sweep(): Promise<void>;
  /** Waits until no execution runs and no worker works. */
  quiet(): Promise<void>;
  /** Stops a run that is under way, if there is one, and answers its name. @param which from 0 to below 1 */
  stopOne(which: number): Promise<string | undefined>;
}

const SWEEP = 'Sweep';
const LONGEST_MS = 60_000;

export function controlOf(cloud: Cloud): CloudControl {
  const db = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(cloud)));
  const sfn = new SFNClient(clientConfig(cloud));
  const [TableName] = cloud.tables;
  const running = () => cloud.stepFunctions.executions().filter(({ status }) => status === 'RUNNING');
  return {
    cloud,
    url: `${cloud.url}/mcp`,
    async records(since) {
      const found: TaskRecord[] = [];
      for (let from: Record<string, unknown> | undefined, more = true; more; more = from !== undefined) {
        const scan = new ScanCommand({ TableName, ConsistentRead: true, ...(from && { ExclusiveStartKey: from }) });
        const { Items = [], LastEvaluatedKey } = await db.send(scan);
        found.push(...(Items as TaskRecord[]));
        from = LastEvaluatedKey;
      }
      return found.filter(({ status, createdAt }) => status !== undefined && createdAt >= since);
    },
    async advance(ms, isBusy = () => false) {
      for (const begun = performance.now(); performance.now() - begun < 1_000; await sleep(5)) {
        if (isBusy() || running().some(({ states }) => states.at(-1) === 'Finish')) continue;
        cloud.clock.advance(ms);
        return true;
      }
      return false;
    },
    async sweep() {
      const names = cloud.schedules.names.filter((name) => name.includes(SWEEP));
      await Promise.all(names.map((name) => cloud.schedules.fire(name)));
    },
    async quiet() {
      const busy = () => running().length + cloud.lambda.workers().filter((one) => one.busy > 0).length;
      for (const begun = performance.now(); busy() > 0; await sleep(20)) {
        if (performance.now() - begun > LONGEST_MS) throw new Error('A run never ends');
      }
    },
    async stopOne(which) {
      // One of Express cannot be stopped.
      const runs = running().filter(({ arn }) => arn.includes(':execution:'));
      const { arn: executionArn, name } = runs[Math.floor(which * runs.length)] ?? {};
      // It may end by itself meanwhile.
      if (executionArn !== undefined) await sfn.send(new StopExecutionCommand({ executionArn })).catch(() => {});
      return name;
    },
  };
}
