import { describe } from 'vitest';
import { byDocumentClient } from '../../../functions/tasks/aws/dynamodb.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { answersContract } from '../../contract/cases/answers.ts';
import { besideContract } from '../../contract/cases/beside.ts';
import { changesContract } from '../../contract/cases/changes.ts';
import { racesContract } from '../../contract/cases/races.ts';
import { documentClient } from '../../support/engine/client.ts';
import { createTable } from '../../support/engine/table.ts';

/** What the model stands on answers the store as the engines of the contract tests do. */
const table = createTable(Date.now, () => {});
const db = documentClient(table, async (_what, carryOut) => carryOut(false));
const dynamoDb = byDocumentClient(db);
const referee = {
  ...{ endpoint: '', db, dynamoDb, table: 'tasks', machines: [] },
  store: taskStore(dynamoDb, 'tasks'),
  stop: async () => {},
};
const parts = {
  'changes of a task': changesContract,
  'answers of a task': answersContract,
  races: racesContract,
  'what lies beside the tasks': besideContract,
};
for (const [name, part] of Object.entries(parts))
  describe(`in the table of the model: ${name}`, () => part(() => referee));
