import { expect } from 'vitest';
import { modernRequest, poll } from '../../../support/clients.ts';
import { useAssembly } from '../../../support/cloud.ts';
import { ACCEPT, useCrashCloud } from './cloud.ts';
import { MINUTE } from './row.ts';

export const TIME_SCALE = 100;
/** An Express execution begins, after its start was answered. */
export const RUN = { service: 'states', operation: 'RunExpress' } as const;
/** The first sweep after a minute, and five and a half minutes later the one that starts the round again. */
export const LOST_RUN = 8 * MINUTE;

/** As `useCrashCloud`, with the tools on Express. At its scale, a run of five minutes has three seconds. */
export function useExpressCloud(timeScale = TIME_SCALE) {
  const assembly = useAssembly('test/support/apps/express-app.ts');
  const control = useCrashCloud({ assembly, timeScale });
  const { url, now, start, stored, runsOf, sweepAfter, pass, quiet } = control;
  return {
    ...control,
    assembly,
    /** The sweep starts the round again, and not before its run is probably over. */
    async startedAgain(taskId: string): Promise<void> {
      await sweepAfter(MINUTE);
      await quiet();
      const runs = runsOf(taskId).length;
      await sweepAfter(4 * MINUTE);
      expect(runsOf(taskId)).toHaveLength(runs);
      const { dueAt = 0 } = await stored(taskId);
      await pass(dueAt - now(), async () => runsOf(taskId).length > runs);
    },
    /** A task that has asked. */
    async asked(): Promise<string> {
      const taskId = await start('ask');
      await poll(url(), taskId, ({ status }) => status === 'input_required');
      return taskId;
    },
    answer: (taskId: string) =>
      modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.confirm': ACCEPT } }),
  };
}
