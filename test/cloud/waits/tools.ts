import type { Envelope, ToolEvent } from '../../../functions/tasks/tool-contract.ts';

const elicit = {
  method: 'elicitation/create',
  params: { message: 'Really?', requestedSchema: { type: 'object', properties: {} } },
};

/**
 * Ends round n with the nth of `rounds`: waits, where a `time` has `in` (milliseconds from now) in place of `until`, and a
 * question if `asks`. Then returns what its rounds got.
 */
export function handler({ arguments: args, task, requestState, inputResponses }: ToolEvent): Envelope {
  const rounds = (args.rounds ?? []) as Record<string, { kind: string; in?: number; until?: unknown }>[];
  const round = task?.round ?? 1;
  const state = [...((requestState as number[] | null) ?? []), round];
  const waits = rounds[round - 1];
  if (waits === undefined) {
    const result = { rounds: state, answers: inputResponses, bytes: JSON.stringify(args).length };
    return { mcpTask: 1, text: JSON.stringify(result) };
  }
  const ended = { requestState: state, ...(args.asks === round && { inputRequests: { sure: elicit } }) };
  return {
    mcpTask: 1,
    text: JSON.stringify(ended),
    ...(args.asks === round && { asks: true }),
    waits: Object.fromEntries(
      Object.entries(waits).map(([name, { in: ms, ...wait }]) => [
        name,
        ms === undefined ? wait : { ...wait, until: Date.now() + ms },
      ]),
    ) as NonNullable<Envelope['waits']>,
  };
}
