import { describe, expect, it } from 'vitest';
import { StatesError } from '../../step-functions/index.ts';
import { gauge, machine, RESOURCE, serve, single, task } from './support.ts';

const LIMIT = 262_144;
/** A string whose JSON text has exactly this many bytes. */
const text = (bytes: number) => 'x'.repeat(bytes - 2);
const wide = (bytes: number) => 'é'.repeat((bytes - 2) / 2);

const Catch = [
  { ErrorEquals: ['States.DataLimitExceeded'], Output: 'by name', Next: 'Caught' },
  { ErrorEquals: ['States.ALL'], Output: 'by ALL', Next: 'Caught' },
];
const DATA_LIMIT = { status: 'FAILED', error: 'States.DataLimitExceeded' };

describe('256 KiB', () => {
  it.each([
    ['ASCII', text],
    ['UTF-8 bytes, not characters', wide],
  ])('is the largest execution input: %s', async (_, make) => {
    const local = await serve(single({ Type: 'Pass', Output: 'fits' }));
    expect(await local.output(make(LIMIT))).toBe('fits');
    await expect(local.start(make(LIMIT + 2))).rejects.toThrow(
      expect.objectContaining({ name: 'InvalidExecutionInput' }),
    );
  });

  it('is the largest task result; above it States.DataLimitExceeded, caught by its name only', async () => {
    const result = async (bytes: number, fields: object) => {
      const local = await serve(task({ Output: 'fits', ...fields }), { task: async () => text(bytes) });
      return local.run();
    };
    expect(await result(LIMIT, {})).toMatchObject({ output: '"fits"' });
    expect(await result(LIMIT + 1, {})).toMatchObject({ ...DATA_LIMIT, cause: expect.stringContaining("'lambda'") });
    expect(await result(LIMIT + 1, { Catch })).toMatchObject({ output: '"by name"' });
    expect(await result(LIMIT + 1, { Catch: Catch.slice(1) })).toMatchObject(DATA_LIMIT);
    const accents = await serve(task({ Output: 'fits' }), { task: async () => wide(LIMIT + 2) });
    expect(await accents.run()).toMatchObject(DATA_LIMIT);
  });

  it('is the largest task argument; above it nothing is called', async () => {
    const { seen, enter } = gauge();
    const local = await serve(task({ Arguments: `{% $pad('', $states.input, 'x') %}`, Catch }), {
      task: async () => enter(),
    });
    expect(await local.output(LIMIT - 2)).toBeNull();
    expect(await local.output(LIMIT - 1)).toBe('by name');
    expect(seen.calls).toBe(1);
  });

  it('is the largest state output, catchable in a Task', async () => {
    const Output = `{% $pad('', $states.input, 'x') %}`;
    const pass = await serve(single({ Type: 'Pass', Output }));
    expect(await pass.output(LIMIT - 2)).toHaveLength(LIMIT - 2);
    expect(await pass.run(LIMIT - 1)).toMatchObject(DATA_LIMIT);
    const caught = await serve(task({ Output, Catch }));
    expect(await caught.output(LIMIT - 1)).toBe('by name');
  });

  it('holds for the joined results of a Map', async () => {
    const ItemProcessor = { StartAt: 'T', States: { T: { Type: 'Task', Resource: RESOURCE, End: true } } };
    const M = { Type: 'Map', Items: [1, 2, 3], ItemProcessor, End: true };
    const local = await serve(machine({ StartAt: 'M', States: { M } }), { task: async () => text(100_000) });
    expect(await local.run()).toMatchObject(DATA_LIMIT);
  });
});

it('an integration may answer States.DataLimitExceeded itself', async () => {
  const local = await serve(task({ Catch }), {
    task: async () => Promise.reject(new StatesError('States.DataLimitExceeded')),
  });
  expect(await local.output()).toBe('by name');
});
