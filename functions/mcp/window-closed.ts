import type { TaskRecord } from '../tasks/record.ts';
import type { ToolResult } from '../tool/contract.ts';
import type { Server } from './server.ts';
import { errorResult } from './wire/tool-result.ts';

/**
 * The inline window of a call without a task has closed, the work goes on (design section 7). A client that knows
 * no tasks can ask for the result with `get_task_result`; where that is not offered, the model must know that it
 * will not get one. A tool with an outputSchema cannot return anything else as structured content.
 */
export function windowClosed(record: TaskRecord, { manifest, tools }: Server): ToolResult {
  const running = `Tool ${record.tool} is still running as task ${record.taskId}.`;
  if (!manifest.helperTools) return errorResult(`${running} It takes longer than a call without a task can wait.`);
  const text = `${running} Call get_task_result with {"taskId":"${record.taskId}"} to get its result.`;
  if (tools.get(record.tool)?.entry.outputSchema !== undefined) return errorResult(text);
  return { content: [{ type: 'text', text }], structuredContent: { taskId: record.taskId, status: 'working' } };
}
