import type { Cloud } from '../../../local/cloud.ts';

/** Units that requests consumed. */
export interface Units {
  readonly read: number;
  /** Units of the table. */
  readonly write: number;
  /** Write units of its indexes. */
  readonly index: number;
}

/** By the logical ids of `app.ts`. */
const CALLERS = { endpoint: /Endpoint/, steps: /^Steps/, others: /^(?!.*Endpoint)/, all: /^/ };
const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/** Since a mark, of the calls of the endpoint, of the tool in steps, of all but the endpoint, or of all. */
export function unitsSince(cloud: Cloud, mark: number, of: keyof typeof CALLERS): Units {
  const sum = { read: 0, write: 0, index: 0 };
  for (const { service, caller, operation, consumed, status } of cloud.calls.since(mark)) {
    if (service !== 'dynamodb') continue;
    if (!CALLERS[of].test(caller)) continue;
    if (!READS.has(operation) && !WRITES.has(operation)) throw new Error(`${operation} is not counted`);
    if (consumed === undefined) throw new Error(`${operation} was not metered (status ${status})`);
    if (READS.has(operation)) sum.read += consumed.table + consumed.index;
    else {
      sum.write += consumed.table;
      sum.index += consumed.index;
    }
  }
  return sum;
}
