import type { Envelope, ToolEvent } from '../../../functions/tasks/tool-contract.ts';
import { signalPlace } from '../../../functions/tasks/waits/signal-url.ts';
import { storeOf } from '../../../functions/tool/run-store.ts';

const elicit = {
  method: 'elicitation/create',
  params: { message: 'Really?', requestedSchema: { type: 'object', properties: {} } },
};

interface Asked {
  readonly kind: string;
  /** In milliseconds from now, in place of `until`. */
  readonly in?: number;
  readonly until?: unknown;
  /** The form of a link, the schema of a webhook. */
  readonly properties?: object;
  readonly required?: readonly string[];
  readonly schema?: object;
}

/**
 * Ends round n with the nth of `rounds`: waits, and a question if `asks`. What they wait for lies in the journal before. Then returns
 * what its rounds got.
 */
export async function handler({
  arguments: args,
  task,
  requestState,
  inputResponses,
  signals,
}: ToolEvent): Promise<Envelope> {
  const rounds = (args.rounds ?? []) as Record<string, Asked>[];
  const round = task?.round ?? 1;
  const state = [...((requestState as number[] | null) ?? []), round];
  const asked = Object.entries(rounds[round - 1] ?? {}).map(([name, { in: ms, ...wait }]) => [
    name,
    ms === undefined ? wait : { ...wait, until: Date.now() + ms },
  ]) as [string, Asked][];
  for (const [name, { kind, until, schema, properties = {}, required = [] }] of task ? asked : []) {
    const requestedSchema = { type: 'object', properties, required };
    const question = { method: 'elicitation/create', params: { message: `Wait ${name}?`, requestedSchema } };
    if (kind !== 'link' && kind !== 'webhook') continue;
    const value = JSON.stringify({ kind, until, ...(kind === 'link' ? { question } : { schema }) });
    if (task?.signals === undefined) continue;
    const store = await storeOf(task);
    await store.writePlace(task, signalPlace(task.signals.key));
    await store.writeEntry(task, { kind: 'wait', name, value });
  }
  if (rounds[round - 1] === undefined) {
    const bytes = JSON.stringify(args).length;
    const place = task?.signals;
    return { mcpTask: 1, text: JSON.stringify({ rounds: state, answers: inputResponses, bytes, signals, place }) };
  }
  const ended = { requestState: state, ...(args.asks === round && { inputRequests: { sure: elicit } }) };
  const waits = asked.map(([name, { properties: _, required: _r, schema: _s, ...wait }]) => [name, wait]);
  return {
    mcpTask: 1,
    text: JSON.stringify(ended),
    ...(args.asks === round && { asks: true }),
    waits: Object.fromEntries(waits) as NonNullable<Envelope['waits']>,
  };
}
