import { limits } from '../../../functions/tasks/limits.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { legacySession, modernMessage } from '../../support/clients.ts';
import { type Cost, meterOf } from './meter.ts';

/** The most that the requests for files can cost, on a cloud of test/cloud/files/app.ts: a full page, and the largest file. */
export async function resourceCosts(cloud: Cloud, logged: () => number): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  const add = meterOf(cloud, logged, costs);
  const { request, headers } = await legacySession(`${cloud.url}/mcp`);
  const both = async (method: string, params: Record<string, unknown> = {}) => {
    await add(`${method}, 2025-11-25`, { body: { jsonrpc: '2.0', id: 1, method, params }, headers });
    await add(`${method}, 2026-07-28`, modernMessage(method, params));
  };
  const stored = async (args: object): Promise<string> => {
    const { task } = (await request('tools/call', { name: 'files', arguments: args, task: {} })).body.result;
    const { result } = (await request('tasks/result', { taskId: task.taskId }, { accept: 'application/json' })).body;
    return result.content[0].uri;
  };
  for (let n = 1; n < limits.files.page; n++) await stored({ text: 'x' });
  const uri = await stored({ text: '"', times: limits.files.read });
  // A container counts the second one in the table.
  for (let n = 0; n < 2; n++) await both('resources/list');
  await both('resources/read', { uri });
  await both('resources/templates/list');
  return costs;
}
