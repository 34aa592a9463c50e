import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { LINK, setup, webhookOf } from './support.ts';

/** A place that no key makes. */
export const FORGED = 'F'.repeat(22);

/** Sends this many requests to URLs that this server has not made, of eight kinds, and expects one answer and no change. */
export async function guess(times: number): Promise<void> {
  const { taskWith, pathOf, forge, ask, did, engine, pass } = setup();
  const task = await taskWith({ a: LINK, b: webhookOf() });
  const foreign = pathOf(await taskWith({ a: LINK }), 'a');
  const old = await taskWith({ a: LINK });
  engine.records.set({ ...engine.records.get(old.taskId), ttl: 1 } as typeof old);
  pass(5);
  const right = pathOf(task, 'a');
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const tampered = (i: number) => {
    const at = i % 43;
    const other = letters[(letters.indexOf(right.mac[at] ?? '') + 1 + (i % 63)) % 64] ?? '';
    return { ...right, mac: right.mac.slice(0, at) + other + right.mac.slice(at + 1) };
  };
  const wrong = [
    tampered,
    () => ({ ...right, mac: randomBytes(32).toString('base64url') }),
    () => ({ ...right, place: foreign.place }),
    () => ({ ...right, name: 'b' }),
    () => pathOf(old, 'a'),
    () => ({ ...right, mac: foreign.mac }),
    () => ({ ...right, place: FORGED }),
    () => ({ ...right, place: randomBytes(16).toString('base64url') }),
  ];
  await forge(FORGED, task);
  const before = JSON.stringify([...engine.table.items()]);
  const answers = new Set<string>();
  did.length = 0;
  for (let i = 0; i < times; i++) {
    const path = wrong[i % wrong.length]?.(i) ?? right;
    const method = i % 3 === 0 ? 'GET' : 'POST';
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    answers.add(
      JSON.stringify(await ask(path, { method, headers, body: method === 'GET' ? '' : '{"action":"decline"}' })),
    );
  }
  expect([...answers].map((answer) => JSON.parse(answer).status)).toEqual([404]);
  expect(did.filter((one) => one === 'readPlace')).toHaveLength(times);
  // A place that is not there is the last of the eight.
  expect(did.filter((one) => one === 'get')).toHaveLength((times / 8) * 7);
  expect(did).toHaveLength((times / 8) * 15);
  expect(JSON.stringify([...engine.table.items()])).toBe(before);
  expect((await ask(right)).status).toBe(200);
}
