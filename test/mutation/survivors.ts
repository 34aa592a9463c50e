import { existsSync, readFileSync } from 'node:fs';

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
  {
    file: 'functions/tasks/table/due-index.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: DynamoDB always sends Items',
  },
  {
    file: 'functions/tasks/table/due-index.ts',
    ...{ from: 'after !== undefined', to: 'true' },
    why: 'equivalent: the client leaves out what is undefined',
  },
  {
    file: 'functions/tasks/table/due-index.ts',
    ...{ from: 'next !== undefined', to: 'true' },
    why: 'equivalent: its reader asks whether it is undefined',
  },
  {
    file: 'functions/tasks/table/store.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text is no known record, and is left out',
  },
  {
    file: 'functions/tasks/table/store.ts',
    ...{ from: "typeof last === 'string'", to: 'true' },
    why: 'equivalent: its readers ask whether it is undefined',
  },
  {
    file: 'functions/tasks/table/progress-item.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text is the report of no task',
  },
  {
    file: 'functions/tasks/table/open-task-slots.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text has no taskId',
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
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: "typeof ttl !== 'number'", to: 'false' },
    why: 'equivalent: Number.isFinite is false for what is no number; the compiler wants both',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: 'progressToken !== undefined', to: 'true' },
    why: 'equivalent: the store leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: 'tool.outputSchemaId !== undefined', to: 'true' },
    why: 'equivalent: the store leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: no question is of this kind',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'taskIds === undefined', to: 'false' },
    why: 'equivalent: undefined has no ids',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'now - quietSince >= QUIET', to: 'now - quietSince > QUIET' },
    why: 'a comment to keep the stream open may come a second later',
  },
  {
    file: 'functions/mcp/methods/tasks-list.ts',
    ...{ from: "typeof params.cursor === 'string'", to: 'true' },
    why: 'equivalent: the signer opens nothing else; the compiler wants it',
  },
  {
    file: 'functions/mcp/methods/tools-call.ts',
    ...{ from: "'leave'", to: '""' },
    why: "equivalent: only 'refuse' is asked about",
  },
  {
    file: 'functions/mcp/methods/tools-call.ts',
    ...{ from: "'call'", to: '""' },
    why: "equivalent in 2026-07-28, where only 'result' is asked about",
  },
  {
    file: 'functions/mcp/methods/server-discover.ts',
    ...{ from: 'manifest.instructions !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/initialize.ts',
    ...{ from: 'instructions !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: 'message !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/tasks/table/open-task-slots.ts',
    ...{ from: 'got.Responses?.[table]', to: 'got.Responses[table]' },
    why: 'equivalent: DynamoDB always sends Responses; the compiler wants it',
  },
  {
    file: 'functions/tasks/table/stream-count.ts',
    ...{ from: 'last === undefined', to: 'false' },
    why: 'equivalent: no attribute is called nundefined',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: "record.status !== 'working'", to: 'false' },
    why: 'equivalent: the check of the whole record follows; only spares a read of S3',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: 'record.accepts !== undefined', to: 'false' },
    why: 'equivalent: of a client that can answer, large arguments are in S3, and the record has an inputRef',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: 'seen?.status', to: 'seen.status' },
    why: 'equivalent: that a task is gone is an answer, given before; the compiler wants it',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: 'seen === undefined', to: 'false' },
    why: 'equivalent: that a task is gone is an answer, given before; the compiler wants it',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: "call.wire.era === 'legacy'", to: 'true' },
    why: 'equivalent: in 2026-07-28 questions are an answer, given before',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: 'server.now() < graceEnds', to: 'server.now() <= graceEnds' },
    why: 'a wait may be counted a millisecond later',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: toolResult always has content; the compiler wants a default',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: 'result === undefined', to: 'false' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: 'isError === true', to: 'true' },
    why: 'equivalent: toolResult has no isError but true',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a signed event id has all its fields; and every stream gets a name of its own',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: 'progressToken !== undefined', to: 'true' },
    why: 'equivalent: its readers ask whether it is undefined',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'held.sequence + 1', to: 'held.sequence - 1' },
    why: 'equivalent: each number is used once, either way',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'key === undefined', to: 'false' },
    why: 'equivalent: the id of the task was signed, or found before; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'record === undefined', to: 'false' },
    why: 'equivalent: that a task is gone is an answer, given before; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'server.now() - quietSince < QUIET', to: 'server.now() - quietSince <= QUIET' },
    why: 'a comment to keep the stream open may come one read later',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'resumable', to: 'true' },
    why: 'equivalent at its end: a stream of 2026-07-28 ends with its answer',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: "typeof id === 'string'", to: 'true' },
    why: 'equivalent: the signer verifies nothing else; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: without a second part it names no question, either',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: 'taskId === undefined || mark === undefined', to: 'taskId === undefined && mark === undefined' },
    why: 'equivalent: a signed text has both parts; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: 'taskId === undefined', to: 'false' },
    why: 'equivalent: a signed text has both parts; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: 'mark === undefined', to: 'false' },
    why: 'equivalent: a signed text has both parts; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/session-questions.ts',
    ...{ from: 'at !== undefined', to: 'true' },
    why: 'equivalent: no time minus undefined is small; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/session-questions.ts',
    ...{ from: "record.status !== 'input_required'", to: 'false' },
    why: 'equivalent: a task that does not wait has no open questions; only spares a read',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a signed event id has all its fields; the compiler wants a default',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text is no task and no question',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'now - quietSince >= QUIET', to: 'now - quietSince > QUIET' },
    why: 'a comment to keep the stream open may come a second later',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'server.now() >= at + grace', to: 'server.now() > at + grace' },
    why: 'the grace may last a millisecond longer',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{
      from: 'server.now() - (notes.asked[mark] ?? 0) >= after',
      to: 'server.now() - (notes.asked[mark] ?? 0) > after',
    },
    why: 'the pause may last a millisecond longer',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: '++sequence', to: '--sequence' },
    why: 'equivalent: each number is used once, either way',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'keys.length > 0', to: 'true' },
    why: 'equivalent: the store reads nothing for no keys',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'keys.length > 0', to: 'keys.length >= 0' },
    why: 'equivalent: the store reads nothing for no keys',
  },
  {
    file: 'functions/tasks/s3/result-store.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: Lambda always sets AWS_REGION; and the code of what is done is not read',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: '{ answered: true }', to: '{}' },
    why: 'equivalent in 2026-07-28, where no stream is resumed',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "delivers === 'call'", to: 'true' },
    why: 'equivalent: only makes an event id longer',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "typeof value === 'number'", to: 'false' },
    why: 'equivalent: only makes an event id longer',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "'number'", to: '""' },
    why: 'equivalent: only makes an event id longer',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: 'text.slice(1)', to: 'text' },
    why: 'equivalent: base64url has no dot, and its decoder skips it',
  },
];

/** Why this mutant may survive, if it may. */
export function reasonFor(file: string, from: string, to: string): string | undefined {
  return SURVIVORS.find((known) => explains(known, file, from, to))?.why;
}

/** The entries whose code is no longer in their file: they explain nothing. */
export function staleReasons(): string[] {
  const isThere = ({ file, from }: Survivor) =>
    existsSync(file) && squeezed(readFileSync(file, 'utf8')).includes(from.replace(/…$/, ''));
  return SURVIVORS.filter((known) => !isThere(known)).map(lineOf);
}

/** A mutant in the terms of an entry. */
export interface Judged {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The entries for these files that none of the survivors needs. */
export function unusedReasons(files: ReadonlySet<string>, survivors: readonly Judged[]): string[] {
  const isUsed = (known: Survivor) => survivors.some(({ file, from, to }) => explains(known, file, from, to));
  return SURVIVORS.filter((known) => files.has(known.file) && !isUsed(known)).map(lineOf);
}

/** Code with each white space as one blank. */
export const squeezed = (code: string): string => code.replace(/\s+/g, ' ');

const lineOf = ({ file, from, to }: Survivor): string => `${file} \`${from}\` -> \`${to}\``;

const explains = (known: Survivor, file: string, from: string, to: string): boolean =>
  known.file === file && says(known.from, from) && says(known.to, to);

const says = (known: string, code: string): boolean =>
  known.endsWith('…') ? code.startsWith(known.slice(0, -1)) : code === known;
