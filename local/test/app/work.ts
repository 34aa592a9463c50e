import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Answers a result to the machine, and a page to API Gateway. If `until` names a file, works until it exists. */
export const handler = async (event: { id?: string; ms?: number; until?: string }) => {
  console.log('working');
  await sleep(event.ms ?? 0);
  while (event.until !== undefined && !existsSync(event.until)) await sleep(20);
  if (event.id === undefined) return { statusCode: 200, body: 'plain' };
  return { id: event.id, answer: `done ${event.id}` };
};
