import { HeaderMismatch, InvalidParams, UnsupportedVersion } from '../../tasks/errors.ts';
import { isObject } from '../../tasks/shape.ts';
import type { RpcRequest } from './jsonrpc.ts';
import { type Era, isModern, isVersionDate, LEGACY_VERSIONS, meta, SUPPORTED } from './versions.ts';

/** The revision of a request. The body decides; a header alone never upgrades it (ladder rows 9 to 17). */
export interface Classified {
  readonly era: Era;
  /** The version that it names. For a legacy request, the version to serve. */
  readonly version: string;
}

/** The version in the body, unchecked. */
export function namedVersion({ params }: RpcRequest): unknown {
  return isObject(params._meta) ? params._meta[meta.protocolVersion] : undefined;
}

/** `header`: MCP-Protocol-Version. `session`: the version of a valid 2025-11-25 session. */
export function classify(request: RpcRequest, header: string | undefined, session: string | undefined): Classified {
  const named = namedVersion(request);
  if (named !== undefined) {
    if (typeof named !== 'string') throw new InvalidParams(`_meta['${meta.protocolVersion}'] must be a string`, 400);
    const legacy = LEGACY_VERSIONS.includes(named) && (header === undefined || header === named);
    return { era: legacy ? 'legacy' : 'modern', version: named };
  }
  if (header !== undefined) {
    if (isModern(header)) {
      throw new InvalidParams(`_meta must hold '${meta.protocolVersion}' and '${meta.clientCapabilities}'`, 400);
    }
    if (LEGACY_VERSIONS.includes(header)) return { era: 'legacy', version: header };
    if (request.method === 'initialize' && isVersionDate(header)) return { era: 'legacy', version: header };
    throw new UnsupportedVersion(SUPPORTED, header);
  }
  if (request.method === 'initialize') return { era: 'legacy', version: '' };
  if (session !== undefined) return { era: 'legacy', version: session };
  throw new HeaderMismatch('MCP-Protocol-Version is missing');
}
