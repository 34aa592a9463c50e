import type { Method } from '../context.ts';
import { hasFiles } from '../manifest.ts';
import { EVENTS_EXTENSION, SUPPORTED, TASKS_EXTENSION } from '../protocol/versions.ts';

/** 2026-07-28 only (D-13, D-15, E-01, H-01). */
export const serverDiscover: Method = async ({ wire }, { manifest, events }) =>
  wire.result({
    supportedVersions: SUPPORTED,
    capabilities: {
      tools: {},
      ...(hasFiles(manifest) && { resources: {} }),
      // Clients of an older draft look for it here.
      ...(events && { events: {} }),
      extensions: { [TASKS_EXTENSION]: {}, ...(events && { [EVENTS_EXTENSION]: {} }) },
    },
    ...(manifest.instructions !== undefined && { instructions: manifest.instructions }),
    ...wire.cache,
  });
