import { InternalError, McpError, MissingClientCapability } from '../../tasks/errors.ts';
import type { RpcError } from '../../tasks/failures.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import { capabilityFor } from '../protocol/capabilities.ts';
import { toolResult } from './tool-result.ts';

/** What a call without a task would return (C-16, C-30, C-31): the result. Throws the error that ended the task. */
export function terminalResult(record: TaskRecord): ToolResult {
  if (record.status === 'completed') return toolResult(record.result ?? 'null');
  if (record.status === 'cancelled') throw new InternalError('Task was cancelled');
  const { code, message, data } = storedError(record);
  throw new McpError(code, message, { data });
}

/** As terminalResult, for a 2026-07-28 call: there, a question that the client cannot answer has a code. */
export function callResult(record: TaskRecord): ToolResult {
  if (record.status === 'failed') {
    const { kinds } = (storedError(record).data ?? {}) as { kinds?: readonly string[] };
    if (kinds?.[0] !== undefined) {
      throw new MissingClientCapability(`Tool ${record.tool} asks for input`, capabilityFor(kinds[0]));
    }
  }
  return terminalResult(record);
}

function storedError(record: TaskRecord): RpcError {
  const none: RpcError = { code: -32603, message: 'The tool failed' };
  return record.error === undefined ? none : (JSON.parse(record.error) as RpcError);
}
