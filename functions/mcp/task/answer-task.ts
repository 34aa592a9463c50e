import { overdue } from '../../tasks/deadlines.ts';
import { InternalError } from '../../tasks/errors.ts';
import { type Principal, taskKey } from '../../tasks/ids.ts';
import { outstanding } from '../../tasks/input.ts';
import { logIgnored } from '../../tasks/log.ts';
import { addAnswers } from '../../tasks/questions/add-answers.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ServerContext } from '../context.ts';
import { checkScopes } from '../identity/tool-scopes.ts';
import { isExpress } from './cancel-task.ts';
import { startCurrentRound } from './resume-round.ts';
import { storeInput, wholeInput } from './task-input.ts';
import { currentRecord, notFound } from './task-view.ts';

/** After this many lost races with other writers, the client gets an error and may try again. */
const ATTEMPTS = 25;

/**
 * Stores answers to a task's open questions and starts the next round when all are there. Keys of no open question are
 * ignored (E-18). The first answer wins (F-09): after a lost race, the new record decides.
 *
 * @param responses answers by wire key
 * @param invalid `refuse`: an invalid answer throws InvalidParams. `leave`: it is left out, and its question stays open
 */
export async function answerTask(
  principal: Principal,
  taskId: unknown,
  responses: Readonly<Record<string, unknown>>,
  invalid: 'refuse' | 'leave',
  server: ServerContext,
): Promise<TaskRecord> {
  const key = taskKey(principal, taskId);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const readAt = server.now();
    const stored = key && (await server.store.get(key));
    const record = stored && currentRecord(stored, readAt, server);
    if (record === undefined) throw notFound(principal, taskId, server);
    checkScopes(principal, record, server);
    // The request before may have crashed before the restart: a repeated answer starts the round, which is idempotent.
    // On Express it would be one more run, and the sweep starts a round that was not started.
    if (record.status === 'working' && record.round > 1) {
      if (isExpress(record, server) || server.now() >= record.deadlineAt) return record;
      return startCurrentRound(record, server);
    }
    const late = record.status === 'input_required' ? overdue(record, server.now()) : undefined;
    if (late !== undefined) {
      const failed = await server.store.apply(record, late);
      if (failed !== undefined) return failed;
      continue;
    }
    const whole = record.status === 'input_required' ? await wholeInput(record, server) : record;
    const open = outstanding(whole);
    const ignored = Object.keys(responses).filter((name) => !Object.hasOwn(open, name)).length;
    if (ignored > 0 && attempt === 0) logIgnored(whole, ignored);
    const express = server.tools.get(record.tool)?.entry.engine === 'express';
    const answers = addAnswers(record, whole, open, responses, invalid, server.now(), express);
    if (answers === undefined) return whole;
    // S3 first: a record refers to nothing that was never written.
    if (answers.stored) await storeInput(answers.stored.record, answers.stored.text, server);
    const changed = await server.store.apply(record, answers.change);
    if (changed?.status === 'working') {
      // Another answer at the same moment may have been refused as too late: then this one must not start a round.
      const failure = overdue(record, server.now());
      if (failure === undefined) return startCurrentRound(changed, server, true);
      return (await server.store.apply(changed, { ...failure, from: ['working'], round: changed.round })) ?? changed;
    }
    if (changed !== undefined) return changed;
    await server.sleep(Math.random() * 20 * attempt);
  }
  throw new InternalError('The task is changing too fast: try again');
}
