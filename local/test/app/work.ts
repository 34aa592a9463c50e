import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Answers the machine with its work done, and API Gateway with a page. Works until a file is there, if `until` names one. */
export const handler = async (event: { id?: string; ms?: number; until?: string }) => {
  console.log('working');
  await sleep(event.ms ?? 0);
  while (event.until !== undefined && !existsSync(event.until)) await sleep(20);
  if (event.id === undefined) return { statusCode: 200, body: 'plain' };
  return { id: event.id, answer: `done ${event.id}` };
};
