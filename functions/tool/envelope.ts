import type { Envelope, ToolEvent, ToolReturn } from '../tasks/tool-contract.ts';
import { EndedRound } from './waits/ended-round.ts';

/**
 * Wraps the value for the workflow: JSON as text, which no later step changes. A direct call asks for no envelope, and
 * gets the plain value.
 */
export function enveloped({ task }: ToolEvent, returned: ToolReturn | EndedRound): ToolReturn | Envelope {
  const plain = returned instanceof EndedRound ? returned.asked : returned;
  if (task?.envelope !== 1) return plain;
  const text = JSON.stringify(plain) ?? 'null';
  const members = typeof plain === 'object' && plain !== null ? plain : {};
  return {
    mcpTask: 1,
    text,
    ...('isError' in members && members.isError === true && { isError: true }),
    ...('inputRequests' in members && { asks: true }),
    ...(returned instanceof EndedRound && returned.waits && { waits: returned.waits }),
  };
}
