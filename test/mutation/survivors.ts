/** A mutant that no test kills, and why that is right. */
interface Survivor {
  readonly file: string;
  /** What the code says, with each white space as one blank; and what the mutant says instead. */
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** Where `from` or `to` ends in `…`, its beginning counts. */
const SURVIVORS: readonly Survivor[] = [
  {
    file: 'functions/tasks/questions/form-field.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'only whether there is a problem counts here, not what it calls the value',
  },
  {
    file: 'functions/tasks/questions/form-field.ts',
    ...{ from: "typeof value !== 'number'", to: 'false' },
    why: 'equivalent: Number.isFinite is false for what is no number; the compiler wants both',
  },
  {
    file: 'functions/tasks/questions/form-field.ts',
    ...{ from: 'default: return undefined;', to: 'default:' },
    why: 'equivalent: a function that ends returns undefined',
  },
  {
    file: 'functions/tasks/questions/form.ts',
    ...{ from: 'default: return undefined;', to: 'default:' },
    why: 'equivalent: a function that ends returns undefined',
  },
  {
    file: 'functions/tasks/shape.ts',
    ...{ from: '{ return undefined; }', to: '{}' },
    why: 'equivalent: a function that ends returns undefined',
  },
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
    file: 'functions/tasks/input.ts',
    ...{ from: "'0'", to: '""' },
    why: 'equivalent: both are 0 as a number',
  },
  {
    file: 'functions/tasks/input.ts',
    ...{ from: '/^r(\\d+)\\.(.*)$/s', to: '/^r(\\d+)\\.(.*)/s' },
    why: 'equivalent: .* takes all there is',
  },
  {
    file: 'functions/tasks/input.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: the first one, the whole match, is not read',
  },
  {
    file: 'functions/tasks/input.ts',
    ...{ from: 'a.name < b.name', to: 'a.name <= b.name' },
    why: 'equivalent: no two answers of a round have one name',
  },
  {
    file: 'functions/tasks/input.ts',
    ...{ from: 'text === undefined', to: 'false' },
    why: 'equivalent: undefined is no JSON; the compiler wants it',
  },
  {
    file: 'functions/tasks/questions/question-problem.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text is no question, so the verdict is the same',
  },
  {
    file: 'functions/tasks/questions/question-problem.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: '17 bytes of 240,000, where a task has no arguments',
  },
  {
    file: 'functions/tasks/questions/question-problem.ts',
    ...{ from: 'text.length > limits.asked / 4', to: 'true' },
    why: 'equivalent: only spares the count of bytes',
  },
  {
    file: 'functions/tasks/questions/question-problem.ts',
    ...{ from: 'text.length > limits.asked / 4', to: 'text.length >= limits.asked / 4' },
    why: 'equivalent: only spares the count of bytes',
  },
  {
    file: 'functions/tasks/errors.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'every caller names a capability; the compiler wants a default',
  },
  {
    file: 'functions/tasks/errors.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'every caller names a capability; the compiler wants a default',
  },
  {
    file: 'functions/tasks/table/audited-store.ts',
    ...{ from: "'over'", to: '""' },
    why: 'equivalent: no round is an empty text, either',
  },
  {
    file: 'functions/tasks/table/audited-store.ts',
    ...{ from: 'reason !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/tasks/execution-history.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'no state has this name',
  },
  {
    file: 'functions/tasks/workflow.ts',
    ...{ from: '!(error instanceof Error)', to: 'false' },
    why: 'equivalent: a text has no name of AWS; the compiler wants it',
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
    file: 'functions/mcp/identity/signing-key.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'Lambda always sets AWS_REGION; and a name of an error that is missing is no other error, either',
  },
  {
    file: 'functions/mcp/identity/signing-key.ts',
    ...{ from: '/^.*#/', to: '/.*#/' },
    why: 'equivalent: .* begins at the start',
  },
  {
    file: 'functions/mcp/identity/signing-key.ts',
    ...{ from: 'Math.random() * 100 * attempt', to: 'Math.random() * 100 / attempt' },
    why: 'how long a pause is, is random',
  },
  {
    file: 'functions/mcp/identity/signing-key.ts',
    ...{ from: 'Math.random() * 100', to: 'Math.random() / 100' },
    why: 'how long a pause is, is random',
  },
  {
    file: 'functions/mcp/identity/signing-key.ts',
    ...{ from: '`https://secretsmanager.${region}.amazonaws.com`', to: '``' },
    why: 'only a deployed stack asks AWS itself: docs/verify-on-aws.md',
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
    file: 'functions/tasks/s3/large-result.ts',
    ...{ from: "'null'", to: '""' },
    why: 'equivalent: only its size is read, and it is small either way',
  },
  {
    file: 'functions/tasks/s3/large-result.ts',
    ...{ from: "typeof returned === 'object' && returned !== null && 'isError' in returned", to: 'true' },
    why: 'equivalent: what else could be so large has no isError',
  },
  {
    file: 'functions/tasks/s3/large-result.ts',
    ...{ from: 'returned !== null', to: 'true' },
    why: 'equivalent: null is never so large',
  },
  {
    file: 'functions/tasks/s3/result-ref.ts',
    ...{ from: '\'"resultRef"\'', to: '""' },
    why: 'equivalent: only spares the parsing of what is no reference',
  },
  {
    file: 'functions/tasks/table/audited-store.ts',
    ...{ from: 'oldest !== undefined', to: 'true' },
    why: 'equivalent: a set of ten thousand has an oldest; the compiler wants it',
  },
  {
    file: 'functions/tasks/log.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: it is no line of a stack',
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
    file: 'functions/mcp/task/poll-interval.ts',
    ...{ from: 'expected !== undefined', to: 'true' },
    why: 'equivalent: undefined is at most nothing; the compiler wants it',
  },
  {
    file: 'functions/mcp/identity/signing-key.ts',
    ...{ from: "'/'", to: '""' },
    why: 'equivalent: a request without a path is one for /',
  },
  {
    file: 'functions/mcp/task/stored-result.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: it is no reference, either',
  },
];

/** Why this mutant may survive, if it may. */
export function reasonFor(file: string, from: string, to: string): string | undefined {
  return SURVIVORS.find((known) => known.file === file && says(known.from, from) && says(known.to, to))?.why;
}

const says = (known: string, code: string): boolean =>
  known.endsWith('…') ? code.startsWith(known.slice(0, -1)) : code === known;
