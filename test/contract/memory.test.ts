import { describe } from 'vitest';
import { byDocumentClient } from '../../functions/tasks/aws/dynamodb.ts';
import { taskStore } from '../../functions/tasks/table/store.ts';
import { documentClient } from '../support/engine/client.ts';
import { createTable } from '../support/engine/table.ts';
import type { Referee } from './referee.ts';
import { STORE, storeContract } from './store.ts';

/** The table that unit tests and the model stand on. */
async function openMemory(): Promise<Referee> {
  const db = documentClient(
    createTable(Date.now, () => {}),
    async (_what, carryOut) => carryOut(false),
  );
  const dynamoDb = byDocumentClient(db);
  const store = taskStore(dynamoDb, 'tasks');
  return { endpoint: '', store, dynamoDb, db, table: 'tasks', machines: [], stop: async () => {} };
}

describe('the store in memory', () => storeContract(openMemory, STORE));
