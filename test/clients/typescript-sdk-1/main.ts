/** The official TypeScript SDK 1.x, 2025-11-25: its experimental task API. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [url = '', step] = process.argv.slice(2);
const say = (fact: object) => console.log(JSON.stringify(fact));

const client = new Client({ name: 'typescript-sdk-1', version: '1' }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  say({ question: params.message });
  await sleep(3_000);
  const fields = 'requestedSchema' in params ? Object.keys(params.requestedSchema.properties) : [];
  return { action: 'accept', content: Object.fromEntries(fields.map((name) => [name, 4])) };
});
// The SDK's own transport types do not pass exactOptionalPropertyTypes.
await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<typeof client.connect>[0]);

const calls = {
  run: { name: 'count', arguments: { to: 4 } },
  question: { name: 'split' },
  cancel: { name: 'wait' },
};
const { tasks } = client.experimental;
const params = calls[step as keyof typeof calls];
for await (const message of tasks.callToolStream(params, CallToolResultSchema, { task: {} })) {
  if (message.type === 'taskCreated') say({ task: message.task.taskId });
  if (message.type === 'taskStatus') say({ progress: message.task.statusMessage });
  if (message.type === 'error') throw message.error;
  if (message.type === 'result') say({ result: (message.result.content[0] as { text: string }).text });
  if (message.type === 'taskCreated' && step === 'cancel') {
    say({ status: (await tasks.cancelTask(message.task.taskId)).status });
    break;
  }
}
await client.close();
