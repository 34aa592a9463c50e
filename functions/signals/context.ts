import type { ReceiveContext } from '../engine/receive.ts';
import type { ResultStore } from '../tasks/results/result-store.ts';
import type { JournalStore } from '../tasks/table/journal-items.ts';
import type { SignalPlaceStore } from '../tasks/table/signal-places.ts';

/** What people read on the page, made at synth. */
export interface Shown {
  /** The name of the server. */
  readonly server: string;
  /** Titles of tools, by name. */
  readonly titles: Readonly<Record<string, string>>;
}

/** What the function needs from outside. Tests replace single members. */
export interface SignalsContext extends ReceiveContext {
  readonly journal: Pick<JournalStore, 'readEntry'>;
  readonly places: Pick<SignalPlaceStore, 'readPlace'>;
  /** Questions and schemas that are too large for the table. */
  readonly values: Pick<ResultStore, 'get'>;
  readonly shown: Shown;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A request, independent of API Gateway. Header names are lower case. */
export interface SignalRequest {
  readonly method: string;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SignalReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
