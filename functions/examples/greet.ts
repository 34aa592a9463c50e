import type { ToolEvent, ToolReturn } from '../tool/contract.ts';

/** The smallest tool there is: no task, no progress, one line of text. */
export async function handler(event: ToolEvent<{ readonly name: string }>): Promise<ToolReturn> {
  return { content: [{ type: 'text', text: `Hello, ${event.arguments.name}!` }] };
}
