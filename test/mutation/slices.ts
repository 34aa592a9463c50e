import { readFileSync } from 'node:fs';

/** A part of the code that `npm run proof -- mutation` changes, and the tests that it runs. */
export interface Slice {
  /** The files to change, as globs. */
  readonly mutate: readonly string[];
  /** The tests that run for each mutant, as globs: the tests beside the code. */
  readonly tests: readonly string[];
  /** Change what runs when a module loads, too: each such mutant asks every test of the slice. @default false */
  readonly static?: boolean;
  /** A worker for each test file: test/support/issuer.ts starts its issuer when it loads. @default as `static` */
  readonly isolate?: boolean;
}

/** Modules of tables, which have no other code: the kinds of questions and of content. */
const TABLES = ['content', 'question'].map((name) => `functions/tasks/questions/${name}.ts`);
/** The tests of the endpoint, but for two that take seconds and whose code is in `mcp-tokens`. */
const endpoint = { tests: ['test/functions/mcp/**/!(bounded-validation|signing-key).test.ts'] };
/** The tests of whole requests. Nearly all tests of the endpoint run `endpoint.ts`: too many for each mutant. */
const requests = {
  tests: ['test/functions/mcp/!(bounded-validation).test.ts', 'test/functions/mcp/{legacy,modern}/*.test.ts'],
};
const STORE = ['store', 'open-task-slots', 'stream-count', 'progress-item', 'due-index', 'session-notes'].map(
  (name) => `functions/tasks/table/${name}.ts`,
);
const TOKENS = 'bounded-validation|http/cors|identity/*';
const PARTS =
  'http/http|protocol/{call-params,capabilities,aws-outage}|read/results|stream/input-required|wire/poll-interval';
/** All tests of tools, without `functions/tool/testing`, which runs whole state machines. */
const toolTests = ['test/functions/tool/*.test.ts', 'test/functions/tool/{journal,waits,files}/*.test.ts'];
/** Files of the endpoint that have their own tests. */
const named = (names: string) => {
  const mutate = names.split('|').map((name) => `functions/mcp/${name}.ts`);
  return { mutate, tests: mutate.map((file) => `test/${file.replace('.ts', '.test.ts')}`) };
};
const [tokens, parts] = [named(TOKENS), named(PARTS)];
const without = (file: string) => `!${file}`;
/** The files that the named parts already change. */
const elsewhere = [...tokens.mutate, ...parts.mutate].map(without);
/** Files whose mutants run most tests of the endpoint. */
const REVISIONS = ['functions/mcp/legacy.ts', 'functions/mcp/modern.ts'];

/** The part of a file from the line that begins with `from` to the line before that which begins with `to`. */
function part(file: string, from: string, to?: string): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  const [first = -1, end = -1] = [from, to].map((text) =>
    text === undefined ? lines.length : lines.findIndex((line) => line.startsWith(text)),
  );
  if (first === -1 || end === -1) throw new Error(`${file} has no line that begins with '${from}', or with '${to}'`);
  return `${file}:${first + 1}-${end}`;
}
/** The part of a file from the line that begins with this text. */
const below = (file: string, text: string): string => part(file, text);

/** By name: `npm run proof -- mutation authorizer`. */
export const SLICES: Readonly<Record<string, Slice>> = {
  authorizer: {
    mutate: ['functions/authorizer/*.ts'],
    tests: ['test/functions/authorizer/*.test.ts'],
    isolate: true,
  },
  tasks: {
    mutate: ['functions/tasks/**/*.ts', ...[...STORE, ...TABLES].map(without)],
    tests: [
      // All but form-properties.test.ts, which takes seconds for each mutant of a form.
      'test/functions/tasks/**/!(form-properties).test.ts',
    ],
  },
  // Its callers' tests ask it about most orders of writes.
  engine: {
    mutate: ['functions/engine/*.ts'],
    tests: [
      ...['engine', 'operator', 'reconciler'].map((folder) => `test/functions/${folder}/**/*.test.ts`),
      'test/functions/mcp/methods/*.test.ts',
      'test/functions/mcp/{express,answer-and-cancel,ask-first}.test.ts',
    ],
  },
  // All but the tests on a cloud, which take minutes for each mutant.
  client: { mutate: ['functions/client/*.ts'], tests: ['test/functions/client/!(index).test.ts'], static: true },
  operator: { mutate: ['functions/operator/**/*.ts'], tests: ['test/functions/operator/**/*.test.ts'] },
  reconciler: {
    mutate: ['functions/reconciler/*.ts', without('functions/reconciler/lambda.ts')],
    tests: ['test/functions/reconciler/*.test.ts'],
  },
  'task-events': { mutate: ['functions/task-events/*.ts'], tests: ['test/functions/task-events/*.test.ts'] },
  tool: { mutate: ['functions/tool/*.ts'], tests: toolTests },
  // Steps, waits and files: each test of them runs `tool`, too.
  'tool-parts': { mutate: ['functions/tool/{journal,waits,files}/*.ts'], tests: toolTests },
  // All but those that take seconds for each mutant.
  signals: { mutate: ['functions/signals/**/*.ts'], tests: ['test/functions/signals/!(page-browser|guesses).test.ts'] },
  events: {
    mutate: ['functions/{events,event-delivery}/**/*.ts', 'functions/mcp/events/*.ts'],
    tests: ['test/functions/{events,event-delivery,mcp/events}/**/*.test.ts'],
  },
  'tasks-cli': {
    mutate: ['bin/tasks/**/*.ts'],
    tests: ['test/bin/tasks/in-memory/*.test.ts', 'test/bin/tasks/{dev-session,text}.test.ts'],
  },
  console: {
    mutate: ['bin/console/*.ts'],
    tests: ['test/bin/console/{server,reads,run,log-text}.test.ts'],
  },
  // What makes IAM statements. The rest of these files is in the template.
  policies: {
    mutate: [
      ...['operators/operator-policies', 'storage/kms-grants', 'tools/report-policy'].map((name) => `lib/${name}.ts`),
      below('lib/server-function.ts', '/** Gives the role'),
      below('lib/tools/tool-run.ts', 'export function functionRun'),
      part('lib/endpoint.ts', '  #allowAll(scope', '    acknowledgeWildcard('),
      part('lib/reconciler.ts', '    const machines = machineArn', '    this.#trigger'),
      part('lib/task-events.ts', '    const stream =', '    const mapping ='),
      part('lib/events/events.ts', '    allowEvents(this.function', '    const receives'),
      part('lib/events/events.ts', '/** Allows actions', '/** Makes the events'),
      part('lib/storage/signing-key.ts', '    // The function may replace', '    const { functionArn }'),
      part('lib/tools/tool-workflow.ts', "    this.#allow(['dynamodb:UpdateItem']", '  /** @param arn'),
    ],
    tests: ['test/stack/policies.test.ts', 'test/lib/tools/tool-run.test.ts'],
  },
  tables: { mutate: TABLES, tests: ['test/functions/tasks/questions/{content,question}.test.ts'], static: true },
  // Static: the contract makes its store before its tests.
  store: {
    mutate: STORE,
    tests: ['test/contract/store.test.ts', 'test/functions/tasks/table/*.test.ts'],
    static: true,
  },
  workflow: {
    // What reads lib/workflow. What stands above it makes resources, which only test/stack sees.
    mutate: [below('lib/workflow/definition.ts', 'interface Asl')],
    tests: ['test/lib/{workflow,workflow-text,workflow-causes,machine-tool}.test.ts'],
    // The tests make the definitions before they begin.
    static: true,
  },
  'mcp-tokens': tokens,
  'mcp-parts': parts,
  'mcp-methods': { ...endpoint, mutate: ['functions/mcp/methods/*.ts'] },
  'mcp-stream': { ...endpoint, mutate: ['functions/mcp/stream/*.ts', ...elsewhere] },
  'mcp-wire': { ...endpoint, mutate: ['functions/mcp/wire/*.ts', ...elsewhere] },
  'mcp-read': {
    mutate: ['functions/mcp/{http,protocol,read}/*.ts', ...elsewhere],
    tests: ['test/functions/mcp/{http,protocol,read}/*.test.ts'],
  },
  'mcp-revisions': { ...endpoint, mutate: REVISIONS },
  mcp: { ...requests, mutate: ['functions/mcp/*.ts', ...REVISIONS.map(without), ...elsewhere] },
};
