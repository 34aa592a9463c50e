import { defineTool, ToolError } from 'mcp-task-server/tool';

const ACCURACY = { type: 'number', minimum: 0, maximum: 1 } as const;
const MODEL = {
  type: 'object',
  properties: { model: { type: 'string', maxLength: 200 }, accuracy: ACCURACY },
  required: ['model', 'accuracy'],
} as const;

/** Starts a job of another system, and waits up to six hours until that system calls back. */
export const handler = defineTool(
  {
    title: 'Train a model',
    description: 'Starts a training job, waits up to six hours until it has ended, and says how good the model is.',
    taskSupport: 'required',
    inputSchema: {
      type: 'object',
      properties: {
        dataset: { type: 'string', minLength: 1, maxLength: 200, description: 'Its name, e.g. "orders-2026".' },
        accuracy: { ...ACCURACY, default: 0.9, description: 'What the model has to reach.' },
      },
      required: ['dataset'],
      additionalProperties: false,
    },
    outputSchema: {
      ...MODEL,
      properties: { ...MODEL.properties, goodEnough: { type: 'boolean' } },
      required: [...MODEL.required, 'goodEnough'],
    },
    // Its steps start no job twice, so a run that crashed may be taken up again.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
  async ({ dataset, accuracy: wanted = 0.9 }, task) => {
    const trained = await task.webhook('trained', { within: { hours: 6 }, schema: MODEL });
    await task.step('start', () => start(dataset, trained.url, `${task.id}`), { retry: { attempts: 3 } });
    const { timedOut, body } = await trained.received();
    if (timedOut) throw new ToolError(`The training on ${dataset} did not end within six hours.`);
    return { ...body, goodEnough: body.accuracy >= wanted };
  },
);

/** Starts the job. The key lets the other system notice a repeat, as a step may run again after a crash. */
async function start(dataset: string, callback: string, key: string): Promise<void> {
  const { TRAINER_URL } = process.env;
  if (!TRAINER_URL)
    return console.log(
      `No TRAINER_URL. Call back yourself: POST ${JSON.stringify({ model: 'm', accuracy: 0.93 })} to ${callback}`,
    );
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const body = JSON.stringify({ dataset, callback });
  const response = await fetch(TRAINER_URL, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`The trainer answered with status ${response.status}`);
}
