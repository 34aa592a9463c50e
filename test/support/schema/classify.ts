import { type Era, LEGACY, MODERN } from './published.ts';
import { isId, isObject, type Members, members, metaOf, type Sent } from './rules.ts';

/** `resume` is a GET; `other` is a notification, a posted answer or an unreadable body: it gets no result. */
export interface Classified {
  readonly era: Era;
  readonly kind: 'request' | 'resume' | 'other';
  readonly sent: Sent;
}

type Header = (name: string) => string | undefined;

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const OLDER = '2025-06-18';
const SPOKEN: readonly unknown[] = [LEGACY, OLDER];

/** The revision that judges an answer to `body`: docs/protocol.md 1.1, implemented a second time. */
export function classify(body: unknown, header: Header): Classified {
  const version = header('mcp-protocol-version')?.trim();
  const message = typeof body === 'string' ? parse(body) : body;
  const ofHeader = SPOKEN.includes(version) ? LEGACY : MODERN;
  if (body === undefined) return { era: ofHeader, kind: 'resume', sent: {} };
  if (!isObject(message) || !('method' in message)) return { era: ofHeader, kind: 'other', sent: {} };
  const { id, method, params, jsonrpc } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isId(id)) {
    // A server may read an id that is too large an integer, or leave it out.
    return {
      era: ofHeader,
      kind: 'other',
      sent: Number.isInteger(id) && !isId(id) ? {} : { id: isId(id) ? id : undefined },
    };
  }
  const legacy = speaksLegacy(message, version, header);
  const older = legacy && (metaOf(params)[VERSION] ?? version) === OLDER;
  return {
    era: legacy ? LEGACY : MODERN,
    kind: 'request',
    sent: { id, method, params: members(params), ...(older && { version: OLDER }) },
  };
}

/** Rows 10 to 17 of the ladder. */
function speaksLegacy({ method, params }: Members, version: string | undefined, header: Header): boolean {
  const named = metaOf(params)[VERSION];
  if (named !== undefined) return SPOKEN.includes(named) && (version === undefined || version === named);
  if (SPOKEN.includes(version)) return true;
  if (method === 'initialize') return version === undefined || (/^\d{4}-\d\d-\d\d$/.test(version) && version < MODERN);
  return version === undefined && header('mcp-session-id') !== undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
