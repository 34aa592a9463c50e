import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolEvent, ToolReturn } from '../../../functions/tasks/tool-contract.ts';

const question = {
  method: 'elicitation/create',
  params: {
    message: 'Really?',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  },
};

/**
 * The tools of ./restart-app.ts. `once` and `repeat` write to the file `runs` that they run, by the call's number or their
 * task, work for `ms`, and continue once the file `go` exists.
 */
export async function handler({ name, arguments: args, inputResponses, task }: ToolEvent): Promise<ToolReturn> {
  if (name === 'short') return args;
  if (name === 'ask') return inputResponses.confirm ?? { inputRequests: { confirm: question } };
  const folder = String(args.folder);
  await appendFile(join(folder, 'runs'), `${args.call ?? task?.taskId}\n`);
  await sleep(Number(args.ms ?? 0));
  while (!existsSync(join(folder, 'go'))) await sleep(25);
  return { attempt: task?.attempt };
}
