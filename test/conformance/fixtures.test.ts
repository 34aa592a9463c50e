import { describe, expect, test } from 'vitest';
import type { InputResponse, ToolEvent } from '../../functions/tasks/tool-contract.ts';
import { fixtures } from './fixtures/catalog.ts';
import { handler } from './fixtures/index.ts';

type Extra = Partial<Pick<ToolEvent, 'requestState' | 'accepts'>>;

const call = (name: string, inputResponses: Record<string, InputResponse> = {}, extra: Extra = {}, args = {}) =>
  handler({ name, arguments: args, accepts: [], inputResponses, requestState: null, ...extra });

const accept = (content: Record<string, unknown>): InputResponse => ({ action: 'accept', content });
const says = (value: string) => ({ content: [{ type: 'text', text: value }] });
const asks = (...keys: string[]) => ({
  inputRequests: Object.fromEntries(keys.map((key) => [key, expect.anything()])),
});

describe('the catalog', () => {
  test('lists a plain tool first, which can be called with {}', async () => {
    const [first] = fixtures;
    expect(first?.taskSupport ?? 'forbidden').toBe('forbidden');
    expect(first?.inputSchema).toBeUndefined();
    expect(await call(first?.name ?? '')).toHaveProperty('content');
  });

  test('has each name once, small enough for one page of tools/list', () => {
    expect(new Set(fixtures.map(({ name }) => name)).size).toBe(fixtures.length);
    expect(fixtures.length).toBeLessThanOrEqual(50);
  });

  test('refuses a name that is not registered', async () => {
    await expect(call('nonsense')).rejects.toThrow('nonsense');
  });
});

describe('task tools', () => {
  test('a tool error is a result, a broken tool throws', async () => {
    expect(await call('failing_job')).toMatchObject({ isError: true });
    await expect(call('protocol_error_job')).rejects.toThrow('broke');
  });

  test('confirm_delete asks, then obeys', async () => {
    const answer = (response: InputResponse) =>
      call('confirm_delete', { confirm: response }, {}, { filename: 'a.txt' });
    expect(await call('confirm_delete')).toEqual(asks('confirm'));
    expect(await answer(accept({ confirm: true }))).toEqual(says('Deleted a.txt'));
    expect(await answer({ action: 'decline' })).toEqual(says('Kept a.txt'));
  });

  test('multi_input keeps asking until both are answered', async () => {
    const content = accept({ name: 'Ada', confirm: true });
    expect(await call('multi_input', { name: content })).toEqual(asks('name', 'confirm'));
    expect(await call('multi_input', { name: content, confirm: content })).toEqual(says('Both answered by Ada'));
  });
});

describe('tools that ask inside a call', () => {
  const TOOL = 'test_input_required_result_elicitation';

  test.each([
    ['nothing', {}],
    ['another key', { wrong_key: accept({ name: 'Alice' }) }],
    ['a value that is not an object', { user_name: 12345 as unknown as InputResponse }],
    ['a form without the field', { user_name: accept({}) }],
  ])('an answer with %s is asked for again', async (_, responses) => {
    expect(await call(TOOL, responses)).toEqual(asks('user_name'));
  });

  test('an answer among unknown keys is enough', async () => {
    const responses = { user_name: accept({ name: 'Alice' }), other: accept({ x: 1 }) };
    expect(await call(TOOL, responses)).toEqual(says('Hello, Alice!'));
  });

  test('a confirmation counts only with the state that was handed out', async () => {
    const confirm = { confirm: accept({ ok: true }) };
    const name = 'test_input_required_result_request_state';
    expect(await call(name, confirm)).toMatchObject(asks('confirm'));
    expect(await call(name, confirm, { requestState: 'state-ok' })).toEqual(says('state-ok'));
  });

  test('the second round remembers the first', async () => {
    const name = 'test_input_required_result_multi_round';
    expect(await call(name)).toMatchObject({ ...asks('step1'), requestState: { step: 1 } });
    const requestState = { step: 2, name: 'Alice' };
    const step1 = accept({ name: 'Alice' });
    expect(await call(name, { step1 }, { requestState: { step: 1 } })).toMatchObject({
      ...asks('step2'),
      requestState,
    });
    expect(await call(name, { step2: accept({ color: 'blue' }) }, { requestState })).toEqual(says('Alice likes blue'));
  });

  test('the client is asked only for kinds that it declared', async () => {
    const ask = (...accepts: string[]) => call('test_input_required_result_capabilities', {}, { accepts });
    expect(await ask('sampling/createMessage')).toEqual(asks('greeting'));
    expect(await ask('sampling/createMessage', 'elicitation/create')).toEqual(asks('greeting', 'user_name'));
  });
});
