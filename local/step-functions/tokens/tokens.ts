import type { Answer } from '../journal/records.ts';

/** A task that waits until a client answers for its token. */
export interface Waiting {
  /** Ends the wait. Resolves once the answer is in the journal; rejects if the wait ends otherwise before. */
  answer(answer: Answer): Promise<void>;
  /** Starts the time of HeartbeatSeconds again; false if the task is too late. */
  beat(): boolean;
}

export type Tokens = ReturnType<typeof createTokens>;

/** The tasks that wait, by their tokens. */
export function createTokens() {
  const waiting = new Map<string, Waiting>();
  return {
    /** Registers a task. Returns a function that ends this. */
    open(token: string, task: Waiting): () => void {
      waiting.set(token, task);
      return () => void waiting.delete(token);
    },
    get: (token: string) => waiting.get(token),
  };
}
