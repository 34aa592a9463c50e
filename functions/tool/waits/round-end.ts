import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '../../tasks/limits.ts';
import type { InputRequest, InputRequired, Wait } from '../../tasks/tool-contract.ts';

type ByName<T> = Readonly<Record<string, T>>;

/** Thrown to end a round. A run that catches every error must throw it again. */
export class RoundEnd extends Error {
  override readonly name = 'RoundEnd';

  constructor() {
    super('The round ends here, until what the tool waits for has come: let this error pass');
  }
}

/** What a run returns whose round ends without a result: a class, as a result may have members of any name. */
export class EndedRound {
  readonly asked: Partial<InputRequired>;
  /** @default none */
  readonly waits: ByName<Wait> | undefined;

  /** @param requestState what the next round gets */
  constructor({ questions, waits }: Awaited, requestState: unknown) {
    this.asked = { ...(questions && { inputRequests: questions }), requestState };
    this.waits = waits;
  }
}

interface Awaited {
  readonly questions?: ByName<InputRequest>;
  readonly waits?: ByName<Wait>;
}

export type Ending = ReturnType<typeof openEnding>;

/** What the run of one round waits for, until its round ends. */
export function openEnding() {
  const questions = new Map<string, InputRequest>();
  const waits = new Map<string, Wait>();
  /** Waits of which it is not known yet whether the round has to end for them. */
  const deciding = new Set<Promise<unknown>>();
  let begun = false;
  let more = false;

  return {
    /** Whether the round ends: whatever the run does after that belongs to the next one. */
    begun: () => begun,
    /** Whether it ends as the time of the function is used up. */
    more: () => more,
    /** Lets the end of the round wait for this decision, if it begins meanwhile. */
    async decide<T>(decision: Promise<T>): Promise<T> {
      deciding.add(decision);
      try {
        return await decision;
      } finally {
        deciding.delete(decision);
      }
    },
    /** Ends the round with this, and with all that the code begins to wait for at the same time. */
    async end(with_: Awaited): Promise<never> {
      for (const [name, question] of Object.entries(with_.questions ?? {})) questions.set(name, question);
      for (const [name, wait] of Object.entries(with_.waits ?? {})) waits.set(name, wait);
      do {
        await Promise.allSettled(deciding);
        await turn();
      } while (deciding.size > 0);
      begun = true;
      throw new RoundEnd();
    },
    /** Ends the round at once: the next one goes on with the work, and then waits for the rest. */
    endWithMore(): never {
      begun = true;
      more = true;
      throw new RoundEnd();
    },
    /** What the round ends with. A wait that it has no room for is of the next one. */
    awaited(): Awaited {
      if (more) return { waits: { more: { kind: 'more' } } };
      return {
        ...(questions.size > 0 && { questions: Object.fromEntries(questions) }),
        ...(waits.size > 0 && { waits: Object.fromEntries([...waits].slice(0, limits.waits.ofRound)) }),
      };
    },
  };
}
