import { describe, expect, it } from 'vitest';
import { type IntegrationCall, StatesError } from '../../step-functions/index.ts';
import { gate, gauge, machine, RESOURCE, serve } from './support.ts';

const work = (fields: object = {}) => ({ Type: 'Task', Resource: RESOURCE, End: true, ...fields });
const flow = (name: string, state: object) => ({ StartAt: name, States: { [name]: state } });
const parallel = (fields: object, more: object = {}) =>
  machine({ StartAt: 'P', States: { P: { Type: 'Parallel', End: true, ...fields }, ...more } });
const map = (fields: object, more: object = {}) =>
  machine({ StartAt: 'M', States: { M: { Type: 'Map', End: true, ...fields }, ...more } });

describe('Parallel', () => {
  it('runs its branches at the same time and outputs their results in order', async () => {
    const both = gate();
    const { seen, enter } = gauge();
    const local = await serve(
      parallel({ Branches: [flow('A', work()), flow('B', { Type: 'Pass', End: true }), flow('C', work())] }),
      {
        async task() {
          enter();
          if (seen.calls === 2) both.resolve('both');
          return both.promise;
        },
      },
    );
    const arn = await local.start('in');
    expect(await local.ended(arn)).toMatchObject({ output: '["both","in","both"]' });
    expect(local.snapshot(arn)).toMatchObject({ transitions: 4 });
  });

  it('gives every branch its Arguments, and Output sees the list as $states.result', async () => {
    const Branches = [
      flow('A', { Type: 'Succeed' }),
      flow('B', { Type: 'Pass', Output: '{% $states.input.n + 1 %}', End: true }),
    ];
    const local = await serve(
      parallel({
        Arguments: { n: '{% $states.input %}' },
        Branches,
        Output: '{% [$states.result[1], $states.input] %}',
      }),
    );
    expect(await local.output(4)).toEqual([5, 4]);
  });

  it('fails with the error of the first branch that failed, aborts the others, and can be caught', async () => {
    const signals: AbortSignal[] = [];
    const Catch = [{ ErrorEquals: ['Bad'], Next: 'Caught' }];
    const local = await serve(
      parallel(
        {
          Branches: [flow('A', work()), flow('B', work({ Arguments: 'fail' }))],
          Catch,
        },
        { Caught: { Type: 'Succeed' } },
      ),
      {
        async task({ arguments: input, signal }) {
          if (input === 'fail') throw new StatesError('Bad', 'b');
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    );
    expect(await local.output({})).toEqual({ Error: 'Bad', Cause: 'b' });
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
  });

  it('branches read outer variables and keep their own', async () => {
    const A = flow('A', { Type: 'Pass', Assign: { mine: '{% $outer + 1 %}' }, Next: 'A2' });
    Object.assign(A.States, { A2: { Type: 'Succeed', Output: '{% $mine %}' } });
    const B = flow('B', { Type: 'Pass', Assign: { mine: '{% $outer + 10 %}' }, Next: 'B2' });
    Object.assign(B.States, { B2: { Type: 'Succeed', Output: '{% $mine %}' } });
    const local = await serve(
      machine({
        StartAt: 'Set',
        States: {
          Set: { Type: 'Pass', Assign: { outer: 1 }, Next: 'P' },
          P: { Type: 'Parallel', Branches: [A, B], End: true },
        },
      }),
    );
    expect(await local.output()).toEqual([2, 11]);
  });
});

describe('Map', () => {
  it('runs the processor once per item of its input and keeps the order', async () => {
    const local = await serve(map({ ItemProcessor: flow('T', work()) }), {
      async task({ arguments: n }) {
        await new Promise((resolve) => setTimeout(resolve, 10 - Number(n)));
        return Number(n) * 10;
      },
    });
    const arn = await local.start([1, 2, 3]);
    expect(await local.ended(arn)).toMatchObject({ output: '[10,20,30]' });
    expect(local.snapshot(arn)).toMatchObject({ transitions: 4 });
  });

  it('takes Items by expression and builds inputs with ItemSelector over context.Map.Item', async () => {
    const local = await serve(
      map({
        Items: '{% $states.input.list %}',
        ItemSelector: {
          i: '{% $states.context.Map.Item.Index %}',
          v: '{% $states.context.Map.Item.Value %}',
          all: '{% $count($states.input.list) %}',
        },
        ItemProcessor: {
          ProcessorConfig: { Mode: 'INLINE' },
          ...flow('T', {
            Type: 'Succeed',
            Output: '{% [$states.input.i, $states.input.v, $states.input.all, $states.context.Map.Item.Index] %}',
          }),
        },
      }),
    );
    expect(await local.output({ list: ['a', 'b'] })).toEqual([
      [0, 'a', 2, 0],
      [1, 'b', 2, 1],
    ]);
  });

  it.each([
    ['a number', 3, 3],
    ['an expression', '{% $count($states.input) - 8 %}', 4],
    ['0, which is AWS’s 40', 0, 12],
  ])('has at most MaxConcurrency items under way: %s', async (_, MaxConcurrency, most) => {
    const { seen, during } = gauge();
    const local = await serve(map({ MaxConcurrency, ItemProcessor: flow('T', work()) }), {
      task: () => during(5),
    });
    expect(await local.output(Array.from({ length: 12 }, (__, i) => i))).toHaveLength(12);
    expect(seen.most).toBe(most);
  });

  it('never has more than 40 items under way', async () => {
    const { seen, during } = gauge();
    const local = await serve(
      map({ MaxConcurrency: 1000, Items: '{% [1..100] %}', Output: {}, ItemProcessor: flow('T', work()) }),
      {
        task: () => during(5),
      },
    );
    await local.output();
    expect(seen.most).toBe(40);
  });

  it('an item that fails fails the Map, aborts the others and starts no more', async () => {
    const calls: IntegrationCall[] = [];
    const local = await serve(map({ MaxConcurrency: 2, ItemProcessor: flow('T', work()) }), {
      async task(call) {
        calls.push(call);
        if (call.arguments === 1) throw new StatesError('Bad');
        return new Promise(() => {});
      },
    });
    expect(await local.run([0, 1, 2, 3])).toMatchObject({ status: 'FAILED', error: 'Bad' });
    expect(calls.map((call) => call.arguments)).toEqual([0, 1]);
    expect(calls[0]?.signal.aborted).toBe(true);
  });

  it('of an empty list is an empty list', async () => {
    const local = await serve(map({ ItemProcessor: flow('T', work()) }));
    expect(await local.output([])).toEqual([]);
  });

  it.each([
    ['Items that are no array', { Items: '{% 1 %}' }],
    ['a negative MaxConcurrency', { Items: [1], MaxConcurrency: '{% -1 %}' }],
    ['an ItemSelector that answers nothing', { Items: [1], ItemSelector: { x: '{% $states.input.missing %}' } }],
  ])('%s are a States.QueryEvaluationError, catchable', async (_, fields) => {
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }];
    const local = await serve(
      map({ ...fields, ItemProcessor: flow('T', work()), Catch }, { Caught: { Type: 'Succeed' } }),
    );
    expect(await local.output()).toMatchObject({ Error: 'States.QueryEvaluationError' });
  });

  it('nests: the inner item is in the context, the outer Map sees its own', async () => {
    const inner = {
      Type: 'Map',
      Items: '{% [$states.input, $states.input * 10] %}',
      ItemProcessor: flow('In', { Type: 'Succeed' }),
      End: true,
    };
    const local = await serve(map({ ItemProcessor: flow('Out', inner) }));
    expect(await local.output([1, 2])).toEqual([
      [1, 10],
      [2, 20],
    ]);
  });
});
