import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolEvent } from '../../../functions/tasks/tool-contract.ts';

export async function handler({ name, arguments: { ms } }: ToolEvent): Promise<string> {
  const began = Date.now();
  if (name === 'nap') await sleep(Number(ms));
  return String(began);
}
