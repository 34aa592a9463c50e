import { defineTool } from 'mcp-task-server/tool';

/** The smallest tool there is: no task, no progress, one line of text. */
export const handler = defineTool(
  {
    title: 'Greet',
    description: 'Greets someone by name. Answers at once; use it to check that the server works.',
    taskSupport: 'forbidden',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 200, description: 'Whom to greet.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  ({ name }) => `Hello, ${name}!`,
);
