import type { Survivor } from './survivor.ts';

/** Why changes of the rest of the endpoint, and the authorizer survive. */
export const ENDPOINT: readonly Survivor[] = [
  {
    file: 'functions/authorizer/authorize.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'API Gateway sends no header without values, and this one would be no token, method or tool',
  },
  {
    file: 'functions/authorizer/authorize.ts',
    ...{ from: 'sent === undefined', to: 'false' },
    why: 'equivalent: the text undefined is no Bearer scheme; the compiler wants it',
  },
  {
    file: 'functions/authorizer/verify.ts',
    ...{ from: 'alg?.slice', to: 'alg.slice' },
    why: 'equivalent: what throws here is an invalid token, by either error',
  },
  {
    file: 'functions/authorizer/verify.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'no token has a claim of this name',
  },
  {
    file: 'functions/mcp/bounded-validation.ts',
    ...{ from: 'spent === 0', to: 'true' },
    why: 'equivalent: what is reset twice is reset',
  },
  {
    file: 'functions/mcp/identity/caller.ts',
    ...{ from: "principal.kind === 'verified'", to: 'true' },
    why: 'equivalent: an anonymous caller has no scopes',
  },
  {
    file: 'functions/mcp/identity/caller.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'no tool needs a scope of this name',
  },
  {
    file: 'functions/authorizer/header-value.ts',
    ...{ from: '{ return undefined; }', to: '{}' },
    why: 'equivalent: a function that ends returns undefined',
  },
  {
    file: 'functions/mcp/http/cors.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: it is no name of a parameter, either',
  },
  {
    file: 'functions/mcp/identity/request-state.ts',
    ...{ from: 'a < b', to: 'a <= b' },
    why: 'equivalent: no two members have one name',
  },
  {
    file: 'functions/mcp/identity/signing.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text has no id, and an empty match is no token',
  },
  {
    file: 'functions/mcp/identity/signing.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: the group is there whenever the key id is',
  },
  {
    file: 'functions/authorizer/index.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'lib/auth/authorizer.ts always sets the issuer and the audience; without them no token is good, either way',
  },
  {
    file: 'functions/authorizer/index.ts',
    ...{ from: 'JWKS_URI !== undefined', to: 'true' },
    why: 'equivalent: undefined is no address; the compiler wants it left out',
  },
  {
    file: 'functions/mcp/http/http.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a split text has a first part; the compiler wants a default',
  },
  {
    file: 'functions/mcp/http/http.ts',
    ...{ from: "range.split(';')[0]?.trim", to: "range.split(';')[0].trim" },
    why: 'equivalent: a split text has a first part; the compiler wants it',
  },
  {
    file: 'functions/mcp/http/http.ts',
    ...{ from: 'from < to', to: 'from <= to' },
    why: 'equivalent: there is no blank beyond the ends; it only ends the loop',
  },
  {
    file: 'functions/mcp/http/http.ts',
    ...{ from: 'from < to', to: 'true' },
    why: 'equivalent: there is no blank beyond the ends; it only ends the loop',
  },
  {
    file: 'functions/mcp/http/http.ts',
    ...{ from: 'to > from', to: 'to >= from' },
    why: 'equivalent: what is cut twice is empty either way',
  },
  {
    file: 'functions/mcp/http/http.ts',
    ...{ from: 'to > from', to: 'true' },
    why: 'equivalent: what is cut twice is empty either way',
  },
  {
    file: 'functions/mcp/wire/2026-07-28.ts',
    ...{ from: 'default: return {};', to: 'default:' },
    why: 'equivalent: undefined adds no member, either',
  },
  {
    file: 'functions/mcp/wire/tool-result.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text is no block',
  },
  {
    file: 'functions/mcp/http/param-headers.ts',
    ...{ from: 'sent === undefined', to: 'false' },
    why: 'equivalent in equal: undefined is the text of no argument; the compiler wants it',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: 'eventId === undefined', to: 'false' },
    why: 'equivalent: what is no event id opens no held call, either; only spares work',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "server.manifest.auth === 'oauth'", to: 'true' },
    why: 'only spares a read where no token can lack a scope',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "{ kind: 'request', id: held.id, method: 'tasks/result', params: { taskId: held.taskId } }", to: '{}' },
    why: 'equivalent: a held call reads what it holds, not its request; the type wants one',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "'request'", to: '""' },
    why: 'equivalent: a stream does not read its request; the type wants one',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "'tasks/result'", to: '""' },
    why: 'equivalent: a stream does not read its request; the type wants one',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: '{ taskId: held.taskId }', to: '{}' },
    why: 'equivalent: a stream does not read its request; the type wants one',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "{ kind: 'request', id: '', method: 'GET', params: {} }", to: '{}' },
    why: 'equivalent: a stream does not read its request; the type wants one',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "'GET'", to: '""' },
    why: 'equivalent: a stream does not read its request; the type wants one',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a stream does not read its request, and neither text is a version',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent on a stream: the mark of no question is dropped',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: "'refuse'", to: '""' },
    why: 'equivalent where there is no answer that could be invalid',
  },
  {
    file: 'functions/mcp/legacy.ts',
    ...{ from: 'question !== undefined', to: 'true' },
    why: 'equivalent: an open key has its question; the compiler wants it',
  },
  {
    file: 'functions/mcp/modern.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: of a missing header the error repeats nothing',
  },
];
