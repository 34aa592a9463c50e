import { expect, test } from 'vitest';
import { answersByName } from '../../../functions/tasks/input.ts';
import { answer } from '../../../functions/tasks/transitions/answers.ts';
import { applied } from '../../functions/tasks/applied.ts';
import type { Referee } from '../referee.ts';
import { AWKWARD, newTask, now } from '../tasks.ts';

/** Answers go into a map of the record, under keys that clients and tools chose. */
export function answersContract(referee: () => Referee): void {
  const store = () => referee().store;
  const asking = () => newTask({ status: 'input_required', asked: '{"inputRequests":{}}', arguments: '{}' });

  test.each(AWKWARD)('an answer under the name %j is kept unchanged', async (name) => {
    const record = asking();
    await store().create(record);
    const change = answer(record, ['r1.other', `r1.${name}`], { [`r1.${name}`]: JSON.stringify(name) }, now);
    const changed = await store().apply(record, change);
    expect(changed).toEqual(applied(record, change));
    expect(Object.entries(changed?.inputResponses ?? {})).toEqual([[`r1.${name}`, JSON.stringify(name)]]);
    expect(answersByName(changed ?? record)).toHaveProperty([name], name);
  });

  test('many answers at once, beside answers of earlier rounds', async () => {
    const record = { ...asking(), inputResponses: { 'r1.a': '1' } };
    await store().create(record);
    const given = Object.fromEntries(AWKWARD.map((name, i) => [`r1.${name}`, String(i)]));
    const change = answer(record, Object.keys(given), given, now);
    expect(await store().apply(record, change)).toEqual(applied(record, change));
    expect(await store().get(record)).toMatchObject({ status: 'working', round: 2, inputResponses: { 'r1.a': '1' } });
  });

  test('hundreds of answers at once: an expression of DynamoDB has 4,096 bytes and 300 operators', async () => {
    const record = { ...asking(), inputResponses: { 'r1.a': '1' } };
    await store().create(record);
    const given = Object.fromEntries(
      Array.from({ length: 700 }, (_, i) => [`r1.question ${i}`, '{"action":"decline"}']),
    );
    const open = [...Object.keys(given), 'r1.b'];
    const some = await store().apply(record, answer(record, open, given, now));
    expect(some).toMatchObject({ status: 'input_required', inputResponses: { 'r1.a': '1', ...given } });
    const all = await store().apply(record, answer(some ?? record, ['r1.b'], { 'r1.b': '2' }, now));
    expect(all).toMatchObject({ status: 'working', round: 2, inputResponses: { 'r1.a': '1', ...given, 'r1.b': '2' } });
  });

  test('an answer under a key that is there replaces it only if nothing was added since', async () => {
    const record = { ...asking(), inputResponses: { 'r1.a': '1' } };
    await store().create(record);
    const [first, second] = ['2', '3'].map((text) => answer(record, ['r1.a', 'r1.b'], { 'r1.b': text }, now));
    if (first === undefined || second === undefined) throw new Error('there are two');
    expect(await store().apply(record, first)).toMatchObject({ inputResponses: { 'r1.a': '1', 'r1.b': '2' } });
    expect(await store().apply(record, second)).toBeUndefined();
  });
}
