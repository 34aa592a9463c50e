import { InternalError, McpError, MissingClientCapability, TaskNotFound } from '../../tasks/errors.ts';
import type { RpcError } from '../../tasks/failures.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import type { Call, ServerContext } from '../context.ts';
import { asTaskUnread } from '../protocol/aws-outage.ts';
import { capabilityFor } from '../protocol/capabilities.ts';
import { errorMessage, resultMessage } from '../protocol/jsonrpc.ts';
import { complete } from '../read/read.ts';
import { relatedResult } from '../wire/2025-11-25.ts';
import { stillRunningResult } from '../wire/still-running-result.ts';
import { toolResult } from '../wire/tool-result.ts';
import type { Wire } from '../wire/wire.ts';
import type { HeldCall } from './held-call.ts';
import { inputRequired, isModernCall } from './input-required.ts';

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
      const result = terminalResult(shown, call.wire);
      return held.delivers === 'result' ? relatedResult(shown, result) : call.wire.toolResult(result);
    };
  }
  if (held.delivers === 'result') return undefined;
  if (record.status === 'input_required') {
    return isModernCall(call) ? () => inputRequired(call, record, server) : undefined;
  }
  return server.now() >= held.closesAt ? () => call.wire.toolResult(stillRunningResult(record, server)) : undefined;
}

/**
 * What a call without a task would return (C-16, C-30, C-31): the result. Throws the error that ended the task. In 2026-07-28 a
 * question that the client cannot answer has a code.
 */
function terminalResult(record: TaskRecord, { asksOnStream }: Wire): ToolResult {
  if (record.status === 'completed') return toolResult(record.result ?? 'null');
  if (record.status === 'cancelled') throw new InternalError('Task was cancelled');
  const { error = '{"code":-32603,"message":"The tool failed"}' } = record;
  const { code, message, data } = JSON.parse(error) as RpcError;
  const { kinds } = (data ?? {}) as { kinds?: readonly string[] };
  if (!asksOnStream && kinds?.[0] !== undefined) {
    throw new MissingClientCapability(`Tool ${record.tool} asks for input`, capabilityFor(kinds[0]));
  }
  throw new McpError(code, message, { data });
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
