import type { Entry, EntryId, StoredJournal } from '../../tasks/table/journal-items.ts';
import type { TaskContext } from '../../tasks/tool-contract.ts';

/** Where the entries of a task's journal are. */
export interface JournalPort {
  /** All entries of the task, and the amount of the last report. */
  read(task: TaskContext): Promise<StoredJournal>;
  /** The entry that is stored. Undefined also if it cannot be read. */
  entry(task: TaskContext, id: EntryId): Promise<Entry | undefined>;
  /**
   * Stores an entry if it is the first, and returns it as it lies in the table. Undefined: another one is there, and counts.
   *
   * @param before also replaces an entry that this run has begun. @default none
   */
  write(task: TaskContext, entry: Entry, before?: string): Promise<Entry | undefined>;
  /** Stores which task the links and webhooks of a place are of. */
  writePlace(task: TaskContext, place: string): Promise<void>;
  /** The JSON text of a value that lies apart. Throws StepLost. */
  largeValue(task: TaskContext, entry: Entry): Promise<string>;
}

/** A journal in memory, for tests of tools. `reported`: the amount of the last report. */
export function memoryJournal(reported: () => StoredJournal['reported'] = () => undefined): JournalPort {
  const entries = new Map<string, Entry>();
  const keyOf = ({ kind, name }: EntryId) => `${kind}#${name}`;
  return {
    async read() {
      const last = reported();
      return { entries: [...entries.values()], ...(last && { reported: last }) };
    },
    entry: async (_task, id) => entries.get(keyOf(id)),
    async write(_task, entry, before) {
      const found = entries.get(keyOf(entry));
      if (found !== undefined && (before === undefined || found.begun !== before)) return undefined;
      entries.set(keyOf(entry), entry);
      return entry;
    },
    writePlace: async () => {},
    largeValue: async (_task, { value = 'null' }) => value,
  };
}

/** A journal for one call of a state machine. Throws for a step with `atMostOnce`: the machine may call again. */
export function callJournal(): JournalPort {
  const journal = memoryJournal();
  return {
    ...journal,
    async write(task, entry, before) {
      if (entry.begun === undefined) return journal.write(task, entry, before);
      const why = 'a state machine calls this function, and does not keep its steps';
      throw new Error(`Step '${entry.name}' cannot have atMostOnce: ${why}. Leave it out, and give the state no retry`);
    },
  };
}
