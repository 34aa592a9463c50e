import { setTimeout as sleep } from 'node:timers/promises';

/** Answers the machine with its work done, and API Gateway with a page. */
export const handler = async (event: { id?: string; ms?: number }) => {
  console.log('working');
  await sleep(event.ms ?? 0);
  if (event.id === undefined) return { statusCode: 200, body: 'plain' };
  return { id: event.id, answer: `done ${event.id}` };
};
