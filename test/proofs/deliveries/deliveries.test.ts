import { expect, test } from 'vitest';
import { type BugName, bugs } from './bugs.ts';
import { planOf } from './plan.ts';
import { findBug, runSchedules } from './schedules.ts';

/** A small share of `npm run proof -- deliveries`, which runs 2,000 schedules. */
const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);

test('the same seed is the same schedule', async () => {
  const [first, second] = [[], []] as unknown[][];
  for await (const { outcome } of runSchedules([7])) first?.push(outcome);
  for await (const { outcome } of runSchedules([7])) second?.push(outcome);
  expect(first).toEqual(second);
  expect(planOf(7)).not.toEqual({ ...planOf(8), seed: 7 });
});

test('whatever receivers and senders do, no event is lost, comes out of order or under two ids', async () => {
  const failed: string[] = [];
  let deaths = 0;
  let attempts = 0;
  for await (const { outcome, violations } of runSchedules(SEEDS)) {
    deaths += outcome.deaths;
    attempts += outcome.receivers.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
    failed.push(...violations.map(({ kind, what }) => `seed ${outcome.plan.seed}: ${kind}: ${what}`));
  }
  expect(failed).toEqual([]);
  expect(deaths).toBeGreaterThan(20);
  expect(attempts).toBeGreaterThan(500);
});

/** The first seed that shows the bug. If the functions make other calls, it may be another one. */
const FIRST: Readonly<Record<BugName, number>> = {
  'a message is done before its attempt': 1,
  'a sender gives up after five attempts': 1,
  'the queue takes the event of a subscription that is begun again for a repeat': 10,
  'a message of an earlier subscription is sent': 177,
  'an attempt for an earlier subscription counts for a later one': 290,
  'a 503 is final': 3,
  'a redirect is a success': 6,
  'a refusal is not final': 145,
  'each attempt has another id': 1,
  'the body says when it was sent': 1,
  'the end of a subscription is not checked': 12,
  'a failed event waits for a day': 1,
  'each event has its message, whatever is under way': 1,
  'each event has its message and group, and none is a repeat': 1,
  'an entry that is settled again has its message, whatever is under way': 31,
  'a message reads the partitions of new events once each': 81,
  'the log decides by what it read before it noted its entry': 871,
  'a sender looks for the next event before it notes the delivery': 18,
  'a repeat sends no next message': 3,
  'a message is done though its delivery could not be noted': 6,
  'a log is noted as fanned out before it is': 1,
  'events that are noted again after a death count as later ones': 57,
  'a message does not look for more events after it noted its turn': 18,
  'new events are deleted before they are in the log': 4,
  'nothing is held': 11,
};
test.each(Object.keys(bugs) as BugName[])('the judge finds that %s', async (name) => {
  const seeds = [FIRST[name], ...SEEDS, ...SEEDS.map((seed) => seed + SEEDS.length)];
  expect(await findBug(name, seeds)).toMatchObject({ found: { kind: bugs[name].kind } });
});
