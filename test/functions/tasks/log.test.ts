import { afterEach, expect, test, vi } from 'vitest';
import { TaskNotFound } from '../../../functions/tasks/errors.ts';
import { logIgnored, logUnexpected } from '../../../functions/tasks/log.ts';
import { create } from '../../../functions/tasks/transitions.ts';

afterEach(() => void vi.restoreAllMocks());

test('an error made for clients is not logged; any other is, by its kind and place (A-15)', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  logUnexpected(new TaskNotFound(), 'here');
  expect(said).not.toHaveBeenCalled();
  logUnexpected('planted-secret', 'here');
  expect(said.mock.calls).toEqual([['{"event":"unexpected_error","where":"here","error":"Error"}']]);
});

test('an ignored answer is logged with twenty open keys of 64 characters at most (E-18, B-19)', () => {
  const said = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
  const names = ['n'.repeat(70), ...Array.from({ length: 20 }, (_, n) => `k${n}`)];
  const inputRequests = Object.fromEntries(names.map((name) => [name, { method: 'roots/list' }]));
  const record = create({ owner: 'o', taskId: 't' }, task, 0);
  logIgnored({ ...record, status: 'input_required', asked: JSON.stringify({ inputRequests }) }, 3);
  expect(said.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
    {
      ...{ event: 'answer_ignored', taskId: 't', tool: 'x', status: 'input_required', ignored: 3 },
      openKeys: [`r1.${'n'.repeat(61)}`, ...Array.from({ length: 19 }, (_, n) => `r1.k${n}`)],
    },
  ]);
});
