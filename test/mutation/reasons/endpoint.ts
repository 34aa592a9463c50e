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
    file: 'functions/mcp/identity/tool-scopes.ts',
    ...{ from: "principal.kind === 'verified'", to: 'true' },
    why: 'equivalent: an anonymous caller has no scopes',
  },
  {
    file: 'functions/mcp/identity/tool-scopes.ts',
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
  {
    file: 'functions/mcp/protocol/jsonrpc.ts',
    ...{ from: 'id !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/protocol/jsonrpc.ts',
    ...{ from: 'written.size === 0', to: 'false' },
    why: 'equivalent: nothing is found; only spares work',
  },
  {
    file: 'functions/mcp/endpoint.ts',
    ...{
      from: "header(request, 'content-type')?.split(';')[0]?.trim",
      to: "header(request, 'content-type')?.split(';')[0].trim",
    },
    why: 'equivalent: a text has a first part; the compiler wants it',
  },
  {
    file: 'functions/mcp/endpoint.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: neither is a date',
  },
  {
    file: 'functions/mcp/wiring.ts',
    ...{ from: 'tool.function === undefined', to: 'false' },
    why: 'equivalent: a list has nothing at undefined; the compiler wants it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: neither is a message',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: "typeof body === 'string'", to: 'true' },
    why: 'a stream needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '{ requestHandler }', to: '{}' },
    why: 'how long a connection may take needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '{ removeUndefinedValues: true }', to: '{}' },
    why: 'what is written needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: 'true', to: 'false' },
    why: 'what is written needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: "'endpoint'", to: '""' },
    why: 'the audit log of a write needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '{ region, requestTimeout: REQUEST_TIMEOUT, attempts: 3 }', to: '{}' },
    why: 'a start needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '{ ...place, patience: INPUT_PATIENCE }', to: '{}' },
    why: 'input in S3 needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '(ms) => new Promise((resolve) => setTimeout(resolve, ms))', to: '() => undefined' },
    why: 'a wait needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '(resolve) => setTimeout(resolve, ms)', to: '() => undefined' },
    why: 'a wait needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '{ const states = stepFunctions({…', to: '{}' },
    why: 'a state machine needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '{ region, requestTimeout: 1_000, attempts: 1 }', to: '{}' },
    why: 'a state machine needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/index.ts',
    ...{ from: '(executionArn: string) => currentState(states, executionArn)', to: '() => undefined' },
    why: 'a state machine needs AWS: the tests of the embedded cloud run it',
  },
  {
    file: 'functions/mcp/lambda.ts',
    ...{ from: '`${__dirname}/manifest.json`', to: '``' },
    why: 'only the bundle has this file: test/stack/bundles/parts.test.ts',
  },
  {
    file: 'functions/mcp/lambda.ts',
    ...{ from: '`${__dirname}/validators.cjs`', to: '``' },
    why: 'only the bundle has this file: test/stack/bundles/parts.test.ts',
  },
  {
    file: 'functions/authorizer/lambda.ts',
    ...{ from: '`${__dirname}/scopes.json`', to: '``' },
    why: 'only the bundle has this file: test/stack/bundles/parts.test.ts',
  },
];
