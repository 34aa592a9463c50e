import { describe, expect, it } from 'vitest';
import { serve, single } from './support.ts';

const STACK = 'threw an error during evaluation: Stack overflow error: Check for non-terminating recursive function.';
const MEMORY = 'threw an error during evaluation: Expression evaluation memory limit exceeded';

/** The output of a Pass with this expression, or the cause of its failure. */
async function outcome(expression: string, input: unknown = {}): Promise<unknown> {
  const local = await serve(single({ Type: 'Pass', Output: `{% ${expression} %}` }));
  const { output, error, cause } = await local.run(input);
  return output === undefined ? { error, cause } : JSON.parse(output);
}

const failing = (cause: string) => ({
  error: 'States.QueryEvaluationError',
  cause: expect.stringContaining(cause),
});

/** A string of 2^n characters, made as AWS was measured. */
const doubled = (n: number) => `($p := function($s, $n) { $n = 0 ? $s : $p($s & $s, $n - 1) }; $length($p("x", ${n})))`;
const recursive = (n: number) => `($f := function($n) { $n = 0 ? 0 : 1 + $f($n - 1) }; $f(${n}))`;
const sum = (terms: number) => Array(terms).fill('1').join('+');

describe('the depth of an evaluation is bounded below the bound of AWS', () => {
  it.each([
    ['89 terms', sum(89), 89],
    ['lists in lists', `$count(${'['.repeat(80)}1${']'.repeat(80)})`, 1],
    ['a recursion of 25', recursive(25), 25],
    ['a tail recursion of 5,000', '($f := function($n) { $n = 0 ? 0 : $f($n - 1) }; $f(5000))', 0],
    ['1,000 results of a function', '$count($map([1..1000], function($n) { [$n, { "n": [$n] }] }))', 1000],
  ])('passes: %s', async (_, expression, value) => {
    expect(await outcome(expression)).toEqual(value);
  });

  it('members of one list or object do not count as levels', async () => {
    const members = Array.from({ length: 200 }, (_, n) => `"k${n}": ${n} + 1`);
    expect(await outcome(`$count($keys({ ${members.join()} }))`)).toBe(200);
    expect(await outcome(`$sum([${members.map((_, n) => `(${n} + 1)`).join()}])`)).toBe((200 * 201) / 2);
    const grouped = '$sum($each([1..200]{ $string($): $ + 1 }, function($n) { $n }))';
    expect(await outcome(grouped)).toBe((201 * 202) / 2 - 1);
  });

  it.each([
    ['91 terms', sum(91)],
    ['lists in lists', `${'['.repeat(91)}1${']'.repeat(91)}`],
    ['a recursion of 33 (AWS: 32)', recursive(33)],
    ['a recursion without an end', '($f := function($n) { 1 + $f($n) }; $f(1))'],
    ['the last member of an object', `{ "a": 1, "b": 2, "c": ${sum(91)} }`],
  ])('fails: %s', async (_, expression) => {
    expect(await outcome(expression)).toEqual(failing(STACK));
  });

  it('is counted separately for each evaluation', async () => {
    const local = await serve(single({ Type: 'Pass', Output: `{% ${recursive(25)} %}` }));
    const runs = await Promise.all(Array.from({ length: 20 }, () => local.output()));
    expect(new Set(runs)).toEqual(new Set([25]));
  });
});

describe('the memory of an evaluation is bounded below the bound of AWS', () => {
  it.each([
    ['a string of 2^22 characters', doubled(22), 2 ** 22],
    ['a list of 350,000 numbers', '[1..350000] ~> $count()', 350_000],
    ['variables of blocks that have ended', '((($x := $pad("", 3e6); 1)); (($y := $pad("", 3e6); 1)))', 1],
  ])('passes: %s', async (_, expression, value) => {
    expect(await outcome(expression)).toEqual(value);
  });

  it.each([
    ['a string of 2^22 + 1 characters', '$length($pad("", 4194305))'],
    ['a string of 2^23 characters', doubled(23)],
    ['a list of 360,146 numbers (as on AWS)', '$count([1..360146])'],
    ['a range of 873,783 numbers (as on AWS)', '[1..873783] ~> $count()'],
    ['two variables that are too large together', '($x := $pad("", 3e6); $y := $pad("", 3e6); 1)'],
    ['lists that hold one list many times', '($x := $pad("", 1e6); $count([$x, $x, $x, $x, $x]))'],
  ])('fails even where the result is small: %s', async (_, expression) => {
    expect(await outcome(expression)).toEqual(failing(MEMORY));
  });

  it('an object or list weighs as much as 10 numbers', async () => {
    const parsed = (member: string, count: number) =>
      outcome('$count($parse($states.input))', `[${Array(count).fill(member).join()}]`);
    expect(await parsed('[]', 35_000)).toBe(35_000);
    expect(await parsed('[]', 36_100)).toEqual(failing(MEMORY));
    expect(await parsed('{}', 36_100)).toEqual(failing(MEMORY));
    expect(await parsed('{"":[]}', 16_000)).toBe(16_000);
    expect(await parsed('{"":[]}', 17_000)).toEqual(failing(MEMORY));
  });
});
