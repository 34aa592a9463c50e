/**
 * What the example without a function is registered with; add the state machine, whose definition lies beside this:
 * `server.addTool('inspect_regions', { ...inspectRegions, stateMachine })`.
 */
export const inspectRegions = {
  title: 'Inspect regions',
  description:
    'Compares regions of a simulated environment: probes each for its latency and free capacity, all at the same time, ' +
    'and names the best one. Takes a few seconds.',
  taskSupport: 'optional',
  inputSchema: {
    type: 'object',
    properties: {
      regions: {
        type: 'array',
        items: { type: 'string', pattern: '^[a-z]{2}-[a-z]{2,20}-[1-9]$' },
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        description: 'Which regions to compare, e.g. ["eu-west-1", "us-east-1"].',
      },
    },
    required: ['regions'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      regions: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            region: { type: 'string' },
            latencyMs: { type: 'integer' },
            freeSlots: { type: 'integer' },
          },
          required: ['region', 'latencyMs', 'freeSlots'],
        },
      },
      best: { type: 'string', description: 'The quickest that has a free slot; none if there is no such region.' },
    },
    required: ['regions'],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
} as const;
