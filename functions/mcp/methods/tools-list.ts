import { InvalidParams } from '../../tasks/errors.ts';
import type { Method } from '../context.ts';
import { advertised } from '../wire/still-running-result.ts';
import { helperTools } from './helper-tools.ts';

/** All tools on one page, in the order of their registration (D-17). So every cursor is invalid. */
export const toolsList: Method = async ({ wire, tasks, params }, { manifest }) => {
  const helpers = manifest.helperTools ? [...helperTools.values()].map(({ entry }) => entry) : [];
  const all = [...manifest.tools.map((tool) => advertised(tool, manifest)), ...helpers];
  if (params.cursor !== undefined) throw new InvalidParams('cursor is not one of this server');
  const tools = tasks ? all : all.map((tool) => ({ ...tool, taskSupport: 'forbidden' as const }));
  return wire.result({ tools: tools.map(wire.tool), ...wire.cache });
};
