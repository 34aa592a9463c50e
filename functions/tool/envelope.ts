import type { Envelope, ToolEvent, ToolReturn } from '../tasks/tool-contract.ts';

/**
 * Wraps the value for the workflow: JSON as text, which no later step changes. A direct call asks for no envelope, and
 * gets the plain value.
 */
export function enveloped({ task }: ToolEvent, returned: ToolReturn): ToolReturn | Envelope {
  if (task?.envelope !== 1) return returned;
  const text = JSON.stringify(returned) ?? 'null';
  const members = typeof returned === 'object' && returned !== null ? returned : {};
  return {
    mcpTask: 1,
    text,
    ...('isError' in members && members.isError === true && { isError: true }),
    ...('inputRequests' in members && { asks: true }),
  };
}
