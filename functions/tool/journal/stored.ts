import { patiently } from '../../tasks/aws/patiently.ts';
import { limits } from '../../tasks/limits.ts';
import { bucketStore } from '../../tasks/results/large-result.ts';
import { isOf, measured } from '../../tasks/results/result-ref.ts';
import { ResultStoreError } from '../../tasks/results/result-store.ts';
import type { Entry } from '../../tasks/table/journal-items.ts';
import type { TaskContext } from '../../tasks/tool-contract.ts';
import { StepLost } from '../errors.ts';
import { isDenied, runKeyOf, storeOf } from '../run-store.ts';
import type { JournalPort } from './port.ts';

/** What S3 says of a missing object. The second one to a role that may not list the bucket, as a tool's role. */
const GONE = ['NoSuchKey', 'AccessDenied'];

/**
 * The journal in Lambda: items of the table, large values in S3. While AWS throttles or fails, a run waits: work of hours must not
 * be lost to an outage of seconds. A role that may not read finds nothing, and without the right to write steps go on: both happen
 * during a deployment. But no wait goes on: without what is stored it would begin again in each run.
 */
export const storedJournal: JournalPort = {
  async read(task) {
    try {
      return await (await storeOf(task)).readJournal(runKeyOf(task));
    } catch (error) {
      if (isDenied(error, 'Query')) return { entries: [] };
      throw error;
    }
  },
  async entry(task, id) {
    try {
      return await (await storeOf(task)).readEntry(runKeyOf(task), id);
    } catch (error) {
      if (isDenied(error, 'Query') && id.kind === 'step') return undefined;
      throw error;
    }
  },
  async write(task, entry, before) {
    const placed = await withValueApart(task, entry);
    try {
      const isFirst = await (await storeOf(task)).writeEntry(runKeyOf(task), placed, before);
      return isFirst ? placed : undefined;
    } catch (error) {
      // The step is done; only a later run would do it again.
      if (isDenied(error, 'UpdateItem') && entry.kind === 'step' && entry.begun === undefined) return placed;
      throw error;
    }
  },
  async writePlace(task, place) {
    await (await storeOf(task)).writePlace(runKeyOf(task), place);
  },
  async largeValue(task, { name, bytes = 0, sha256 = '' }) {
    const { owner, taskId, results } = task;
    const get = () => bucketStore(results).get({ owner, taskId, entryValue: sha256 });
    const text = await patiently(get).catch((error: unknown) => {
      if (error instanceof ResultStoreError && GONE.includes(error.code)) throw new StepLost(name);
      throw error;
    });
    // Every tool of the server can write to its place.
    if (!isOf({ bytes, sha256 }, text)) throw new StepLost(name);
    return text;
  },
};

/** The entry as it is in the table. A large value is stored before it, so no entry refers to an object that was never written. */
async function withValueApart({ owner, taskId, results }: TaskContext, entry: Entry): Promise<Entry> {
  const { value, ...rest } = entry;
  // A run needs all passes when it reads the journal.
  if (value === undefined || entry.kind === 'pass' || Buffer.byteLength(value) <= limits.journal.inline) return entry;
  const place = measured(value);
  try {
    const put = () => bucketStore(results).put({ owner, taskId, entryValue: place.sha256 }, value);
    // The work is done.
    await (place.bytes <= limits.result.carried ? put() : patiently(put));
  } catch (error) {
    // An item takes this much, at a higher price.
    if (error instanceof ResultStoreError && place.bytes <= limits.result.carried) return entry;
    throw error;
  }
  return { ...rest, ...place };
}
