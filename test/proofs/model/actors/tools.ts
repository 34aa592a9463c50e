import type { Tool } from '../../../../functions/mcp/context.ts';
import type { Manifest, ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { definition } from '../../../../lib/workflow/definition.ts';
import { TOOLS } from '../scenario.ts';

/** In ms. A short deadline is met in many runs; before a long one, all else must have been put right. */
const TIMEOUTS = { careful: 300_000, repeatable: 100_000, first: 40_000 } as const;

const question = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};
const firstQuestions = { sure: question };
/** What a task of the tool `first` asks before its first run. */
export const ASK_FIRST = JSON.stringify({ inputRequests: firstQuestions });

const entries = TOOLS.map(
  (name): ToolEntry => ({
    name,
    description: 'A tool of the model',
    inputSchema: { type: 'object' },
    taskSupport: 'optional',
    timeout: TIMEOUTS[name],
    engine: 'standard',
    ...(name === 'first' && { askFirst: firstQuestions }),
  }),
);

export const manifest: Manifest = {
  serverInfo: { name: 'model', version: '1' },
  auth: 'iam',
  maxTtl: 86_400_000,
  allowedOrigins: [],
  inlineWindow: 25_000,
  holdCap: 50_000,
  helperTools: false,
  questionStream: false,
  maxOpenTasks: 2,
  maxStreams: 200,
  tools: entries,
};

export const tools: ReadonlyMap<string, Tool> = new Map(
  entries.map((entry) => [entry.name, { entry, validate: () => true, validateOutput: undefined }]),
);

/** The workflow of the tools, as AWS and the embedded cloud run it. Each tool has the name of its function. */
export const toolWorkflow = definition('standard')
  .replaceAll('${Functions}', `{${TOOLS.map((name) => `'${name}': '${name}'`).join(', ')}}`)
  .replaceAll('${RepeatableTools}', "['repeatable']")
  .replaceAll('${TableName}', 'tasks')
  .replaceAll('${ResultsBucket}', 'results');
