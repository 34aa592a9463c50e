import { vi } from 'vitest';
import { act } from '../../../../bin/tasks/act.ts';
import { type Arguments, readArguments } from '../../../../bin/tasks/options.ts';
import { onSubscriptions } from '../../../../bin/tasks/subscriptions/verbs.ts';
import type { Terminal } from '../../../../bin/tasks/terminal.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';

/** What a command has printed. */
export interface Printed {
  readonly code: number;
  readonly out: string;
}
interface Server {
  readonly context: OperatorContext;
}

/** A verb on a server in memory, as from a command line. */
const commandOf =
  <Given extends Arguments>(verb: (given: Given, context: OperatorContext, terminal: Terminal) => Promise<number>) =>
  async ({ context }: Server, ...args: string[]): Promise<Printed> => {
    const out = vi.fn<(text: string) => void>();
    const code = await verb(readArguments(args) as Given, context, { out, err: () => {}, folder: '/' });
    return { code, out: out.mock.calls.flat().join('') };
  };

/** A verb that acts. */
export const acting = commandOf(act);
/** A verb that lists or ends subscriptions. */
export const onSubscription = commandOf(onSubscriptions);
