import { TaskNotFound } from '../../tasks/errors.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isTerminal } from '../../tasks/transitions.ts';
import { inputRequired } from '../input-required.ts';
import { errorMessage, resultMessage } from '../jsonrpc.ts';
import { logUnexpected } from '../log.ts';
import { unread } from '../outage.ts';
import type { Call, Server } from '../server.ts';
import { withResult } from '../stored-result.ts';
import { callResult, terminalResult } from '../terminal-result.ts';
import { windowClosed } from '../window-closed.ts';
import { relatedResult } from '../wire/2025-11-25.ts';
import type { HeldCall } from './held-call.ts';

/**
 * The answer of a held call, if it is due now. It may be an error: call it inside the request's own error handling.
 * 2026-07-28 hands a question over as an answer (D-20); 2025-11-25 asks on the stream and goes on waiting.
 */
export function answerDue(
  record: TaskRecord | undefined,
  held: HeldCall,
  call: Call,
  server: Server,
): (() => object | Promise<object>) | undefined {
  if (record === undefined) {
    return () => {
      throw new TaskNotFound();
    };
  }
  if (isTerminal(record.status)) {
    return async () => {
      const shown = await withResult(record, server);
      if (held.delivers === 'result') return relatedResult(shown, terminalResult(shown));
      return call.wire.toolResult(call.wire.era === 'modern' ? callResult(shown) : terminalResult(shown));
    };
  }
  if (held.delivers === 'result') return undefined;
  if (record.status === 'input_required') {
    return call.wire.era === 'modern' ? () => inputRequired(call, record, server) : undefined;
  }
  return server.now() >= held.closesAt ? () => call.wire.toolResult(windowClosed(record, server)) : undefined;
}

/** A due answer as the JSON-RPC message that ends a stream. */
export async function answerMessage({ id, taskId }: HeldCall, answer: () => object | Promise<object>): Promise<object> {
  try {
    return resultMessage(id, await answer());
  } catch (error) {
    const told = unread(error, taskId);
    logUnexpected(told, 'held call');
    return errorMessage(id, told).body;
  }
}
