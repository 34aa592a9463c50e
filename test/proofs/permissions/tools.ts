import { setTimeout as sleep } from 'node:timers/promises';
import { storeIfLarge } from '../../../functions/tasks/results/large-result.ts';
import type { ToolEvent, ToolReturn } from '../../../functions/tasks/tool-contract.ts';
import { signalPlace } from '../../../functions/tasks/waits/signal-url.ts';
import { reportProgress } from '../../../functions/tool/index.ts';
import { openJournal } from '../../../functions/tool/journal/journal.ts';
import { runContext } from '../../../functions/tool/run-context.ts';

const question = {
  method: 'elicitation/create',
  params: { message: 'Really?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
};

/** Does what its arguments say, with every right of a tool's own credentials. */
export async function handler(event: ToolEvent): Promise<unknown> {
  const { name, arguments: args, task, inputResponses } = event;
  console.log(`hello from ${name}`);
  // A large result of a step, which the next round reads.
  if (args.ask === true) {
    await openJournal(event, runContext.journal).once('step', 'large', () => 'x'.repeat(5_000));
  }
  if (args.ask === true && inputResponses.sure === undefined) {
    return { inputRequests: { sure: question } } as ToolReturn;
  }
  // The second round reads the input that the first one has put into S3.
  if (args.twice === true && inputResponses.surer === undefined) {
    return { inputRequests: { surer: question }, requestState: 'x'.repeat(3_000) } as ToolReturn;
  }
  if (args.link === true && task !== undefined && event.signals?.second === undefined) {
    const until = task.deadline;
    if (task.round > 1) return { mcpTask: 1, text: '{}', waits: { second: { kind: 'link', until } } };
    // Too large for an item of the journal.
    const params = { ...question.params, message: `Really? ${'x'.repeat(5_000)}` };
    const asked = { kind: 'link', until, question: { ...question, params } };
    await runContext.journal.writePlace(task, signalPlace(task.signals?.key ?? ''));
    for (const name of ['first', 'second'])
      await openJournal(event, runContext.journal).once('wait', name, () => asked);
    const wait = { kind: 'link', until };
    return { mcpTask: 1, text: '{}', waits: { first: wait, second: wait } };
  }
  if (args.more === true && task?.round === 1) return { mcpTask: 1, text: '{}', waits: { more: { kind: 'more' } } };
  while (args.spin === true && (await reportProgress(task, 'turning'))) await sleep(1_050);
  const result = { content: [{ type: 'text', text: 'x'.repeat(Number(args.bytes ?? 1)) }] };
  return task === undefined || args.plain === true ? result : storeIfLarge(result, task);
}

/** Prints the detail of an event from EventBridge. */
export const told = async ({ detail }: { readonly detail: object }) => console.log(JSON.stringify({ told: detail }));
