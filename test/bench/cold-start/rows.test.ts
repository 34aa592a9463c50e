import { expect, test } from 'vitest';
import { type Round, rowsOf } from './rows.ts';

const times = (wall: number) => ({ wall, cpu: 10 * wall });
const sample = (load: number, create = 1) => ({
  ...{ load: times(load), 'first create': times(create) },
  ...{ 'first discover': times(1), 'first poll': times(1) },
});

test('a ratio is the median of the ratios within rounds, not the ratio of two medians', () => {
  const rounds: Round[] = [
    { a: sample(10), b: sample(10) },
    { a: sample(20), b: sample(40) },
    { a: sample(300), b: sample(600) },
  ];
  const [load] = rowsOf(rounds, [['a', 'b']]);
  const cpu = { median: 200, ratio: 0.5, spread: [0.5, 0.9], pairs: 3 };
  expect(load).toEqual({ arm: 'a', step: 'load', base: 'b', ...cpu, median: 20, cpu });
});

test('load and first create are added up before they are compared', () => {
  const rows = rowsOf([{ a: sample(1, 3), b: sample(3, 5) }], [['a', 'b']]);
  expect(rows.at(-1)).toMatchObject({ step: 'load and first create', median: 4, ratio: 0.5, pairs: 1 });
});

test('a step whose base took no CPU time that the clock can see makes no ratio', () => {
  const still = { ...sample(4), load: { wall: 4, cpu: 0 } };
  const rounds = [
    { a: sample(2), b: still },
    { a: sample(2), b: sample(4) },
  ];
  expect(rowsOf(rounds, [['a', 'b']])[0]).toMatchObject({ pairs: 2, cpu: { ratio: 0.5, pairs: 1 } });
});
