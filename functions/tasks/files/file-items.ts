import { FILES_PARTITION, KEY, RUN_QUERIES, tableKey } from '../attributes.ts';
import type { DynamoDb, QueryInput } from '../aws/dynamodb.ts';
import type { TaskKey } from '../record.ts';
import { parsed } from '../shape.ts';
import { isCurrent, type RunKey, writeRunItem } from '../table/run-items.ts';
import { fileOf, type StoredFile } from './file.ts';

/** A file, and its task. */
export interface TaskFile extends TaskKey {
  readonly file: StoredFile;
}

/** Notes the files of tasks, in one partition for each owner. Any tool of the server may have written what it reads. */
export interface FileStore {
  /** The files that runs of the task have noted, by name. Strongly consistent. One with another deadline is of another task. */
  readFiles(run: RunKey): Promise<StoredFile[]>;
  /**
   * False: the task has a file of this name. A note that expires earlier is of an older task with the same idempotency key.
   *
   * @param listed for how long after the deadline of the task, in ms
   */
  writeFile(run: RunKey, file: StoredFile, listed: number): Promise<boolean>;
  /** Files of all tasks of an owner: the newest task comes first. `after`: where the last page ended. */
  listFiles(owner: string, limit: number, after?: string): Promise<{ files: TaskFile[]; last?: string }>;
}

export function fileStore(db: DynamoDb, table: string): FileStore {
  const queryOf = (owner: string, condition: string, taskId: string): QueryInput => ({
    TableName: table,
    KeyConditionExpression: `#${KEY.partition} = :owner AND ${condition}`,
    // The policy of a tool needs both.
    Select: 'SPECIFIC_ATTRIBUTES',
    ProjectionExpression: RUN_QUERIES.map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(RUN_QUERIES.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: { ':owner': FILES_PARTITION + owner, ':taskId': taskId },
    ConsistentRead: true,
  });
  return {
    async readFiles({ owner, taskId, deadline }) {
      // 100 files take less than a page of 1 MB.
      const { Items = [] } = await db.query(queryOf(owner, `begins_with(#${KEY.sort}, :taskId)`, `${taskId}#`));
      return Items.flatMap(({ value }) =>
        Object(parsed(String(value))).deadline === deadline ? (fileOf(value) ?? []) : [],
      );
    },
    writeFile: (run, file, listed) =>
      writeRunItem(db, table, {
        run: { ...run, deadline: run.deadline + listed },
        Key: { owner: FILES_PARTITION + run.owner, taskId: `${run.taskId}#${file.name}` },
        item: { value: JSON.stringify({ ...file, deadline: run.deadline }) },
        or: ['#expiresAt < :expiresAt'],
      }),
    async listFiles(owner, limit, after) {
      const { Items = [], LastEvaluatedKey } = await db.query({
        ...queryOf(owner, `#${KEY.sort} > :taskId`, ' '),
        ScanIndexForward: false,
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: tableKey({ owner: FILES_PARTITION + owner, taskId: after }) }),
      });
      const files = Items.filter(isCurrent).flatMap((item) => {
        const [taskId = ''] = String(item[KEY.sort]).split('#');
        const file = fileOf(item.value);
        return file === undefined ? [] : [{ owner, taskId, file }];
      });
      const last: unknown = LastEvaluatedKey?.[KEY.sort];
      return { files, ...(typeof last === 'string' && { last }) };
    },
  };
}
