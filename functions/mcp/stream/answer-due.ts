import { TaskNotFound } from '../../tasks/errors.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import type { Call, ServerContext } from '../context.ts';
import { asTaskUnread } from '../protocol/aws-outage.ts';
import { errorMessage, resultMessage } from '../protocol/jsonrpc.ts';
import { complete } from '../read/read.ts';
import { relatedResult } from '../wire/2025-11-25.ts';
import { stillRunningResult } from '../wire/still-running-result.ts';
import { callResult, terminalResult } from '../wire/terminal-result.ts';
import type { HeldCall } from './held-call.ts';
import { inputRequired } from './input-required.ts';

/**
 * A function that makes the answer of a held call, or undefined if no answer is due. It may throw the answer as an
 * error: call it inside the request's error handling. In 2026-07-28 a question is an answer (D-20). 2025-11-25 asks on
 * the stream and continues to wait.
 */
export function answerDue(
  record: TaskRecord | undefined,
  held: HeldCall,
  call: Call,
  server: ServerContext,
): (() => object | Promise<object>) | undefined {
  if (record === undefined) {
    return () => {
      throw new TaskNotFound();
    };
  }
  if (isTerminal(record.status)) {
    return async () => {
      const shown = await complete(record, { result: 'shown' }, server);
      if (held.delivers === 'result') return relatedResult(shown, terminalResult(shown));
      return call.wire.toolResult(call.wire.asksOnStream ? terminalResult(shown) : callResult(shown));
    };
  }
  if (held.delivers === 'result') return undefined;
  if (record.status === 'input_required') {
    return call.wire.asksOnStream ? undefined : () => inputRequired(call, record, server);
  }
  return server.now() >= held.closesAt ? () => call.wire.toolResult(stillRunningResult(record, server)) : undefined;
}

/** A due answer as the JSON-RPC message that ends the stream. */
export async function answerMessage({ id, taskId }: HeldCall, answer: () => object | Promise<object>): Promise<object> {
  try {
    return resultMessage(id, await answer());
  } catch (error) {
    const shown = asTaskUnread(error, taskId);
    logUnexpected(shown, 'held call');
    return errorMessage(id, shown).body;
  }
}
