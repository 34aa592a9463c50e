import type { ClassicLevel } from 'classic-level';

/** The data of a dynalite. The keys of items are `item-<table>~<hash of the partition key>/…`. */
export interface Store {
  readonly db: ClassicLevel<string, unknown>;
  readonly lifecycleManager: { gracefulClose(): Promise<void>; setShutdownTimeout(ms: number): void };
  /** The descriptions of the tables. Each write ends with a callback. */
  readonly tableDb: Record<'put' | 'del', (table: string, ...rest: unknown[]) => void>;
  /** Without `checked`, and for `true`, a table that is not active does not exist. */
  getTable(table: string, checked: boolean | TableDone, done?: TableDone): void;
  getItemDb(table: string): ItemDb;
  /** Removes all items of a table that is deleted. */
  deleteItemDb(table: string, done: (error?: unknown) => void): void;
}

export interface ItemDb {
  /** Runs `run` once no other write of the key is under way. Each write holds this lock. */
  lock(key: string, run: (release: unknown) => void): void;
}

export type TableDone = (error: unknown, table?: { readonly TableStatus: string }) => void;
