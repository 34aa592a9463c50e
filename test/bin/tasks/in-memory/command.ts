import { vi } from 'vitest';
import { act } from '../../../../bin/tasks/act.ts';
import { readArguments } from '../../../../bin/tasks/options.ts';
import type { OperatorContext } from '../../../../functions/operator/context.ts';

/** What a command has printed. */
export interface Printed {
  readonly code: number;
  readonly out: string;
}

/** A verb that acts, on a server in memory, as from a command line. */
export async function acting({ context }: { readonly context: OperatorContext }, ...args: string[]): Promise<Printed> {
  const out = vi.fn<(text: string) => void>();
  const given = readArguments(args) as Parameters<typeof act>[0];
  const code = await act(given, context, { out, err: () => {}, folder: '/' });
  return { code, out: out.mock.calls.flat().join('') };
}
