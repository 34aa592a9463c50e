import type { Method } from '../context.ts';
import { SUPPORTED, TASKS_EXTENSION } from '../protocol/versions.ts';

/** 2026-07-28 only (D-13, D-15, E-01). */
export const serverDiscover: Method = async ({ wire }, { manifest }) =>
  wire.result({
    supportedVersions: SUPPORTED,
    capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
    ...(manifest.instructions !== undefined && { instructions: manifest.instructions }),
    ...wire.cache,
  });
