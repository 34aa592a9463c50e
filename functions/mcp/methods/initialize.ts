import { InvalidParams } from '../../tasks/errors.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Method } from '../context.ts';
import { mintSession } from '../identity/session.ts';
import { hasFiles } from '../manifest.ts';
import { acceptedKinds } from '../protocol/capabilities.ts';
import { LEGACY, LEGACY_VERSIONS } from '../protocol/versions.ts';

/** 2025-11-25 only: agrees on a version and starts a session (B-01 to B-04). */
export const initialize: Method = async ({ params, principal, replyHeaders }, server) => {
  const { protocolVersion, capabilities } = params;
  if (typeof protocolVersion !== 'string') throw new InvalidParams('protocolVersion must be a string');
  if (!isObject(capabilities)) throw new InvalidParams('capabilities must be an object');
  const version = LEGACY_VERSIONS.includes(protocolVersion) ? protocolVersion : LEGACY;
  replyHeaders['mcp-session-id'] = await mintSession(server, principal, version, acceptedKinds(capabilities));
  const { serverInfo, instructions } = server.manifest;
  return {
    protocolVersion: version,
    capabilities: {
      tools: {},
      logging: {},
      ...(hasFiles(server.manifest) && { resources: {} }),
      ...(version === LEGACY && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
    },
    serverInfo,
    ...(instructions !== undefined && { instructions }),
  };
};

/** Exactly `{}`: clients reject any other key (B-12). */
export const ping: Method = async () => ({});
