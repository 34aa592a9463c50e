import { InvalidParams } from '../../tasks/errors.ts';
import type { Method } from '../server.ts';
import { LEGACY } from '../versions.ts';
import { CACHE } from './server-discover.ts';

/** All tools in the order they were registered, on one page (D-17); so no cursor can be one of ours. */
export const toolsList: Method = async ({ wire, version, params }, { manifest }) => {
  if (params.cursor !== undefined) throw new InvalidParams('cursor is not one of this server');
  if (wire.era === 'modern') return wire.result({ tools: manifest.tools.map(wire.tool), ...CACHE });
  const tools =
    version === LEGACY
      ? manifest.tools
      : manifest.tools.map((tool) => ({ ...tool, taskSupport: 'forbidden' as const }));
  return wire.result({ tools: tools.map(wire.tool) });
};
