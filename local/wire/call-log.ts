/** Keeps every AWS call of the embedded cloud, for tests that count them. Only with `recordCalls`. */

export interface Call {
  /** The time of its arrival, in milliseconds since the epoch. */
  readonly at: number;
  /** The time of its answer, in milliseconds since the epoch. */
  readonly answeredAt?: number;
  /** Logical id of the function or role that called, or the access key of another caller. */
  readonly caller: string;
  /** dynamodb, s3, states, lambda, secretsmanager or events. */
  readonly service: string;
  readonly operation: string;
  readonly input: unknown;
  /** 0 where a fault lost the request. */
  readonly status: number;
  /** The type of the error, if any. */
  readonly error?: string | undefined;
  /** Capacity units, of the table and of all its indexes. */
  readonly consumed?: Consumed | undefined;
}

export interface Consumed {
  readonly table: number;
  readonly index: number;
}

export type CallLog = ReturnType<typeof createCallLog>;

/** @param bound how many calls are kept; the oldest go first. 0 keeps none. */
export function createCallLog(bound: number) {
  let kept: Call[] = [];
  let dropped = 0;

  return {
    /** False if no calls are kept: then the caller need not record. */
    enabled: bound > 0,
    add(call: Call): void {
      if (bound === 0) return;
      kept.push(call);
      // Calls are dropped only at twice the bound, so that `add` stays cheap.
      if (kept.length < bound * 2) return;
      dropped += kept.length - bound;
      kept = kept.slice(-bound);
    },
    /** A point in time to count from. */
    mark: (): number => dropped + kept.length,
    /** The calls since a mark, or all that are kept. */
    since(mark = dropped): readonly Call[] {
      if (bound === 0) throw new Error('no calls are kept: start the cloud with recordCalls');
      // A silent gap would make a test count too few.
      if (mark < dropped) throw new Error(`calls since this mark were dropped: only ${bound} are kept`);
      return kept.slice(mark - dropped);
    },
    /** Drops the calls that are kept. */
    forget(): void {
      dropped += kept.length;
      kept = [];
    },
  };
}
