import { engine, handler, server } from '../../../support/apps/app.ts';

/** The test app, and what only the random faults need. */
server.addTool('large', {
  handler,
  description: 'Returns more than a workflow carries',
  inputSchema: { type: 'object' },
  taskSupport: 'optional',
  annotations: { idempotentHint: true },
  ...engine,
});
server.addTool('charge_and_wait', {
  handler,
  description: 'Waits for a person, another system and the clock',
  inputSchema: { type: 'object' },
  taskSupport: 'required',
  ...engine,
  annotations: { idempotentHint: true },
});
