import { createHash } from 'node:crypto';
import jsonata from 'jsonata';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../step-functions/jsonata/functions.ts';
import { machine, serve, single, task } from './support.ts';

/** The output of a Pass with this expression. */
const evaluate = async (expression: string, input: unknown = {}, now = Date.now) => {
  const local = await serve(single({ Type: 'Pass', Output: `{% ${expression} %}` }), { now });
  return local.output(input);
};

const failing = async (expression: string, input: unknown = {}) => {
  const local = await serve(single({ Type: 'Pass', Output: { deep: [`{% ${expression} %}`] } }));
  return local.run(input);
};

describe('the functions AWS adds', () => {
  it.each([
    [`$parse('{"a":[1]}')`, { a: [1] }],
    ['$range(0, 10, 5)', [0, 5, 10]],
    ['$range(3, 1, -1)', [3, 2, 1]],
    ['$range(1, 0, 1)', []],
    ['$partition([1..5], 2)', [[1, 2], [3, 4], [5]]],
    ["$hash('input data', 'SHA-1')", createHash('sha1').update('input data').digest('hex')],
    ["$hash('é', 'SHA-256')", createHash('sha256').update('é').digest('hex')],
    ['$random(7) = $random(7)', true],
    ['$random() >= 0 and $random() < 1', true],
    ['$count($distinct([1..5].$uuid()))', 5],
    ["$map(['1', '2'], $parse)", [1, 2]],
  ])('%s', async (expression, value) => {
    expect(await evaluate(expression)).toEqual(value);
  });

  it('$uuid is a version 4 UUID', async () => {
    expect(await evaluate('$uuid()')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('$millis and $now follow the clock of the engine', async () => {
    const now = () => 1_700_000_000_123;
    expect(await evaluate('[$millis(), $now(), $now("[Y]", "+0000")]', {}, now)).toEqual([
      1_700_000_000_123,
      '2023-11-14T22:13:20.123Z',
      '2023',
    ]);
  });

  it.each([
    "$parse('{')",
    '$parse(1)',
    '$range(0, 1000, 1)',
    '$range(1, 2, 0)',
    '$partition([1], 0)',
    "$hash('x', 'CRC')",
  ])('%s is a States.QueryEvaluationError', async (expression) => {
    expect(await failing(expression)).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  });
});

describe('an expression', () => {
  it('without a result is a States.QueryEvaluationError with expression, field, state, event', async () => {
    expect(await failing('$states.input.missing')).toMatchObject({
      status: 'FAILED',
      error: 'States.QueryEvaluationError',
      cause:
        "An error occurred while executing the state 'S' (entered at the event id #2). The JSONata expression " +
        "'$states.input.missing' specified for the field 'Output/deep[0]' returned nothing (undefined).",
    });
  });

  it.each([
    ['throws', '$states.input.a + "x"', { a: 1 }, 'T2002'],
    ['answers a function', '{ "f": $uppercase }', {}, 'function'],
    ['raises $error', '$error("mine")', {}, 'mine'],
  ])('that %s is a States.QueryEvaluationError', async (_, expression, input, cause) => {
    expect(await failing(expression, input)).toMatchObject({
      error: 'States.QueryEvaluationError',
      cause: expect.stringContaining(cause),
    });
  });

  it('may answer null, and leaves out undefined members of an object it builds', async () => {
    expect(await evaluate('{ "a": null, "b": $states.input.missing }')).toEqual({ a: null });
    expect(await evaluate('null')).toBeNull();
  });

  it('answers plain arrays: one item stays a list only where JSONata says so', async () => {
    expect(await evaluate('$states.input.l[n > 1].n', { l: [{ n: 1 }, { n: 2 }] })).toBe(2);
    expect(await evaluate('[$states.input.l[n > 1].n]', { l: [{ n: 1 }, { n: 2 }] })).toEqual([2]);
    expect(await evaluate('$states.input.l[]', { l: 1 })).toEqual([1]);
  });

  it('may bind its own names', async () => {
    expect(await evaluate('( $a := 1; $f := function($x, $i) { $x + $a }; $map([1, 2], $f) )')).toEqual([2, 3]);
    expect(await evaluate('$states.input.l@$x#$i.{ "x": $x, "i": $i }', { l: ['a'] })).toEqual({ x: 'a', i: 0 });
  });

  it('keeps nothing from one evaluation to the next, even at the same time', async () => {
    const local = await serve(
      machine({
        StartAt: 'A',
        States: {
          A: {
            Type: 'Pass',
            Assign: { v: '{% $states.input %}' },
            Output: '{% ($x := $states.input; $x) %}',
            Next: 'B',
          },
          B: { Type: 'Succeed', Output: '{% [$v, $states.input, ($y := $v; $y)] %}' },
        },
      }),
    );
    const outputs = await Promise.all(Array.from({ length: 30 }, (_, i) => local.output(i)));
    expect(outputs).toEqual(Array.from({ length: 30 }, (_, i) => [i, i, i]));
  });

  it('cannot change its input', async () => {
    const local = await serve(task({ Output: '{% [$states.input ~> |$|{"a": 2}|, $states.input] %}' }));
    expect(await local.output({ a: 1 })).toEqual([{ a: 2 }, { a: 1 }]);
  });
});

it("the known function names are jsonata's and AWS's", async () => {
  const added = new Set(['parse', 'hash', 'range', 'partition', 'uuid']);
  for (const name of FUNCTION_NAMES) {
    const found = await jsonata(`$exists($${name})`).evaluate(undefined);
    expect([name, found]).toEqual([name, !added.has(name)]);
  }
});
