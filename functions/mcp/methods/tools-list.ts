import { InvalidParams } from '../../tasks/errors.ts';
import type { Method } from '../context.ts';
import { LEGACY } from '../protocol/versions.ts';
import { advertised } from '../task/still-running-result.ts';
import { helperTools } from './helper-tools.ts';
import { CACHE } from './server-discover.ts';

/** All tools on one page, in the order of their registration (D-17). So every cursor is invalid. */
export const toolsList: Method = async ({ wire, version, params }, { manifest }) => {
  const helpers = manifest.helperTools ? [...helperTools.values()].map(({ entry }) => entry) : [];
  const all = [...manifest.tools.map((tool) => advertised(tool, manifest)), ...helpers];
  if (params.cursor !== undefined) throw new InvalidParams('cursor is not one of this server');
  if (wire.era === 'modern') return wire.result({ tools: all.map(wire.tool), ...CACHE });
  const tools = version === LEGACY ? all : all.map((tool) => ({ ...tool, taskSupport: 'forbidden' as const }));
  return wire.result({ tools: tools.map(wire.tool) });
};
