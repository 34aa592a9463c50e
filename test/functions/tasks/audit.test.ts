import { expect, test, vi } from 'vitest';
import { auditLine, printAudit } from '../../../functions/tasks/audit.ts';

test('an event is one line, past the console', () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  printAudit('denied', { reason: 'no_token' });
  const lines = written.mock.calls.map(([line]) => line);
  written.mockRestore();
  expect(lines).toEqual(['{"event":"audit","action":"denied","reason":"no_token"}\n']);
});

test('an event names its owner, unless there is none, or the owner is the task itself', () => {
  const ownerIn = (owner?: string) => JSON.parse(auditLine('created', { owner })).owner;
  expect(['owner#a', 'session#a', 'task#a', undefined].map(ownerIn)).toEqual([
    ...['owner#a', 'session#a', undefined, undefined],
  ]);
});
