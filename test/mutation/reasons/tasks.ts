import type { Survivor } from './survivor.ts';

/** Why changes of tasks survive. */
export const TASKS: readonly Survivor[] = [
  {
    file: 'functions/tasks/questions/answer-field.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'only whether there is a problem counts here, not what it calls the value',
  },
  {
    file: 'functions/tasks/questions/answer-field.ts',
    ...{ from: "typeof value !== 'number'", to: 'false' },
    why: 'equivalent: Number.isFinite is false for what is no number; the compiler wants both',
  },
  {
    file: 'functions/tasks/questions/answer-field.ts',
    ...{ from: 'default: return undefined;', to: 'default:' },
    why: 'equivalent: a function that ends returns undefined',
  },
  {
    file: 'functions/tasks/questions/answer-problem.ts',
    ...{ from: 'default: return undefined;', to: 'default:' },
    why: 'equivalent: a function that ends returns undefined',
  },
  {
    file: 'functions/tasks/shape.ts',
    ...{ from: '{ return undefined; }', to: '{}' },
    why: 'equivalent: a function that ends returns undefined',
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
    file: 'functions/tasks/aws/execution-history.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'no state has this name',
  },
  {
    file: 'functions/tasks/workflow.ts',
    ...{ from: '!(error instanceof Error)', to: 'false' },
    why: 'equivalent: a text has no name of AWS; the compiler wants it',
  },
  {
    file: 'functions/tasks/results/large-result.ts',
    ...{ from: "'null'", to: '""' },
    why: 'equivalent: only its size is read, and it is small either way',
  },
  {
    file: 'functions/tasks/results/large-result.ts',
    ...{ from: "typeof returned === 'object' && returned !== null && 'isError' in returned", to: 'true' },
    why: 'equivalent: what else could be so large has no isError',
  },
  {
    file: 'functions/tasks/results/large-result.ts',
    ...{ from: 'returned !== null', to: 'true' },
    why: 'equivalent: null is never so large',
  },
  {
    file: 'functions/tasks/results/result-ref.ts',
    ...{ from: '\'"resultRef"\'', to: '""' },
    why: 'equivalent: only spares the parsing of what is no reference',
  },
  {
    file: 'functions/tasks/log.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: it is no line of a stack',
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
    file: 'functions/tasks/results/result-store.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: Lambda always sets AWS_REGION; and the code of what is done is not read',
  },
  {
    file: 'functions/tasks/aws/aws-json.ts',
    ...{ from: "'/'", to: '""' },
    why: "equivalent: the signer's copy of a request without a path has the path /",
  },
  {
    file: 'functions/tasks/aws/aws-json.ts',
    ...{ from: '/:.*$/', to: '/:.*/' },
    why: 'equivalent: .* takes all there is',
  },
  {
    file: 'functions/tasks/aws/aws-json.ts',
    ...{ from: '() => false', to: '() => undefined' },
    why: 'equivalent: both are falsy',
  },
  {
    file: 'functions/tasks/aws/aws-json.ts',
    ...{ from: '(error.$metadata.httpStatusCode ?? 0) >= 500', to: '(error.$metadata.httpStatusCode ?? 0) > 500' },
    why: 'equivalent: isTransientError is true for 500',
  },
  {
    file: 'functions/tasks/aws/signed-request.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'Lambda always sets credentials; and the text is no port and no date, either',
  },
  {
    file: 'functions/tasks/aws/signed-request.ts',
    ...{ from: 'env.AWS_SESSION_TOKEN !== undefined', to: 'true' },
    why: 'equivalent: the signer asks whether there is one',
  },
  {
    file: 'functions/tasks/aws/signed-request.ts',
    ...{ from: "origin.port !== ''", to: 'true' },
    why: 'equivalent: Node takes port 0 for the default one',
  },
  {
    file: 'functions/tasks/results/result-store.ts',
    ...{ from: "'GET'", to: '""' },
    why: "equivalent: GET is the default of the signer's copy, and of the error text",
  },
  {
    file: 'functions/tasks/results/result-store.ts',
    ...{ from: "'/'", to: '""' },
    why: "equivalent: the signer's copy of a request begins its path with /",
  },
  {
    file: 'lib/workflow/definition.ts',
    ...{ from: 'false', to: 'true' },
    why: 'equivalent: what a machine runs has no retrier for what its tool may repeat',
  },
  {
    file: 'functions/tasks/bounded-map.ts',
    ...{ from: 'oldest !== undefined', to: 'true' },
    why: 'equivalent: a map that is too large has an oldest; the compiler wants it',
  },
];
