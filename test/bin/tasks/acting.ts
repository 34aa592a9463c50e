import type { Cloud } from '../../../local/cloud.ts';
import { modernRequest, poll } from '../../support/clients.ts';
import { type Printed, verbsOn } from './verbs.ts';

/** The verbs on an embedded cloud, and the tasks on which they act. */
export function actsOn(cloud: () => Cloud) {
  const url = () => `${cloud().url}/mcp`;
  async function started(name: string, args: object = {}): Promise<string> {
    const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
    return body.result.taskId;
  }
  return {
    ...{ url, started, tasks: verbsOn(cloud) },
    async asking(name = 'ask'): Promise<string> {
      const taskId = await started(name);
      await poll(url(), taskId, ({ status }) => status === 'input_required');
      return taskId;
    },
    /** A task as its client sees it. */
    seen: async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result,
    /** The run of its first round. */
    runOf: (taskId: string) =>
      cloud()
        .stepFunctions.executions()
        .find(({ name }) => name === `${taskId}-r1`),
  };
}

/** The audit lines that a verb has printed. */
export const audited = ({ err }: Pick<Printed, 'err'>) =>
  err
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
