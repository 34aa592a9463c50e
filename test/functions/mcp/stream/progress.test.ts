import { describe, expect, test } from 'vitest';
import type { HeldCall } from '../../../../functions/mcp/stream/held-call.ts';
import { logMessage, progressMessage } from '../../../../functions/mcp/stream/progress.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { LOG_LEVELS } from '../../../../functions/tasks/table/session-notes.ts';

const record = (more: Partial<TaskRecord>) => ({ tool: 'x', ...more }) as TaskRecord;

describe('a report is a notification of progress (A-22, C-33)', () => {
  const sent = (held: Partial<HeldCall>, more: Partial<TaskRecord>) =>
    progressMessage({ progressToken: 7, progress: -1, ...held } as HeldCall, record(more));
  const notification = (params: object) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 7, ...params },
  });

  test.each<[string, Partial<HeldCall>, Partial<TaskRecord>, [object, number] | undefined]>([
    ['with its value', {}, { statusMessage: 'm', progress: 0 }, [{ progress: 0, message: 'm' }, 0]],
    [
      'with its total',
      {},
      { statusMessage: 'm', progress: 1, progressTotal: 4 },
      [{ progress: 1, total: 4, message: 'm' }, 1],
    ],
    ['counted, where it has no value', { progress: 3 }, { statusMessage: 'm' }, [{ progress: 4, message: 'm' }, 4]],
    ['not twice', { progress: 1 }, { statusMessage: 'm', progress: 1 }, undefined],
    ['not backwards', { progress: 2 }, { statusMessage: 'm', progress: 1 }, undefined],
    ['not without words', {}, { progress: 1 }, undefined],
  ])('%s', (_name, held, more, expected) => {
    expect(sent(held, more)).toStrictEqual(expected && { message: notification(expected[0]), value: expected[1] });
  });

  test('not for a client that sent no token', () => {
    expect(progressMessage({ progress: -1 } as HeldCall, record({ statusMessage: 'm', progress: 1 }))).toBeUndefined();
  });
});

describe('a report is a log message of level info', () => {
  test.each(LOG_LEVELS)('for a session that asked for %s, if that is no more severe', (level) => {
    const message = logMessage(level, record({ statusMessage: 'm' }));
    const params = { level: 'info', logger: 'x', data: 'm' };
    const wanted = level === 'debug' || level === 'info';
    expect(message).toEqual(wanted ? { jsonrpc: '2.0', method: 'notifications/message', params } : undefined);
  });

  test('not for a session that asked for none, and not without words', () => {
    expect(logMessage(undefined, record({ statusMessage: 'm' }))).toBeUndefined();
    expect(logMessage('debug', record({}))).toBeUndefined();
  });
});
