import { limits } from '../../tasks/limits.ts';
import type { InputRequest, InputRequired, Wait } from '../../tasks/tool-contract.ts';

type ByName<T> = Readonly<Record<string, T>>;

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

export interface Awaited {
  readonly questions?: ByName<InputRequest>;
  readonly waits?: ByName<Wait>;
}

/** The first waits to end, as many as the record of the task has room for beside its caller. A later round has the others. */
export function withRoom(waits: ReadonlyMap<string, Wait>, caller: unknown = ''): ByName<Wait> {
  const { ofRound, bytes } = limits.waits;
  let rest = bytes - sizeOf(caller);
  const fits = (wait: readonly [string, Wait]): boolean => {
    rest -= sizeOf(Object.fromEntries([wait]));
    return rest >= 0;
  };
  const first = [...waits].toSorted(([, a], [, b]) => endOf(a) - endOf(b));
  const over = first.findIndex((wait, n) => n === ofRound || !fits(wait));
  return Object.fromEntries(over === -1 ? first : first.slice(0, over));
}

const endOf = (wait: Wait): number => ('until' in wait ? wait.until : 0);
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
