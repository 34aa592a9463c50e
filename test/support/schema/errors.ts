import { type Era, fits, MODERN } from './published.ts';
import { isId, isObject, type Members, type Sent, show, unless } from './rules.ts';

const JSON_RPC: readonly unknown[] = [-32700, -32600, -32601, -32602, -32603];
/** Codes of one revision only, and the definitions of their errors. */
const DEFINED: Readonly<Record<Era, ReadonlyMap<unknown, string>>> = {
  '2025-11-25': new Map([[-32042, 'URLElicitationRequiredError']]),
  '2026-07-28': new Map([
    [-32020, 'HeaderMismatchError'],
    [-32021, 'MissingRequiredClientCapabilityError'],
    [-32022, 'UnsupportedProtocolVersionError'],
  ]),
};
/** Codes for the methods of MCP Events only. Its two drafts have different ones. */
const EVENTS: readonly unknown[] = [-32011, -32012, -32013, -32014, -32015, -32023, -32024, -32025, -32026, -32027];
/** Errors that may come before a body is read: they may lack the id. */
const BEFORE_THE_ID: readonly unknown[] = [-32700, -32600];

export function errorProblems(era: Era, answer: Members, sent: Sent): string[] {
  const { code } = isObject(answer.error) ? answer.error : {};
  const defined = DEFINED[era].get(code);
  const ofEvents = era === MODERN && String(sent.method).startsWith('events/') && EVENTS.includes(code);
  return [
    ...fits(era, 'JSONRPCErrorResponse', answer),
    ...(defined === undefined ? codeProblems(ofEvents ? undefined : code) : fits(era, defined, answer)),
    ...idProblems(answer, sent, BEFORE_THE_ID.includes(code)),
  ];
}

/** A task keeps its error for both eras: only codes that mean the same in both (F-12). */
export function storedErrorProblems(error: unknown): string[] {
  return [...fits(MODERN, 'Error', error), ...codeProblems(isObject(error) ? error.code : undefined)];
}

/** JSON-RPC reserves -32768 to -32000; the server's own codes are outside (D-33). */
function codeProblems(code: unknown): string[] {
  const reserved = typeof code === 'number' && code >= -32768 && code <= -32000;
  return unless(!reserved || JSON_RPC.includes(code), `error code ${String(code)} is not defined in this revision`);
}

/** An answer has the id of its request, with its JSON type. */
export function idProblems(answer: Members, sent: Sent, mayLackIt = false): string[] {
  if (!('id' in answer)) return unless(mayLackIt || !isId(sent.id), `the answer lacks the id ${show(sent.id)}`);
  if (!('id' in sent)) return [];
  return unless(answer.id === sent.id, `the answer has the id ${show(answer.id)}, its request ${show(sent.id)}`);
}
