import { join } from 'node:path';
import { oneLine, printable } from '../command.ts';
import { type JsonObject, listOf, numberOf, objectOf, parsedObject, stringOf } from '../json.ts';

/** What the author can do about a failure, by its reason. */
const ADVICE: Readonly<Record<string, string>> = {
  InputRequestInvalid:
    "a question is { method: 'elicitation/create', params: { message, requestedSchema } } with flat fields: use elicitForm",
  InputNotSupported: 'this client cannot be asked that: see its capabilities',
  InputRequestTooLarge: 'questions, state, arguments and answers may take 240 KB together',
  DeadlineExceeded: "it did not end within the tool's timeout",
  'Sandbox.Timedout':
    "it did not end within its function's timeout: raise the timeout of your ToolFunction, unless the machine is overloaded",
  'States.Timeout': "it did not end within the tool's timeout",
  'Runtime.ExitError': 'its process ended: out of memory, or an exit by the tool',
  'Lambda.ResourceNotFoundException': 'its function does not run here: dev said why at its start',
  'Function.ResponseSizeTooLarge': 'Lambda returns 6 MB at most: defineTool stores larger results itself',
};

/** Prints what happens, one readable line each. */
export interface Terminal {
  /** A line that a function, or the cloud itself, wrote. */
  log(source: string, line: string): void;
  say(text: string): void;
  /** Something that went wrong and that the author can mend. */
  problem(text: string): void;
}

export interface TerminalOptions {
  /** Prints the lines of the server as they are. */
  readonly verbose: boolean;
  readonly write: (text: string) => void;
  readonly now: () => Date;
  /** The name of a tool's function, as the author knows it. */
  readonly nameOf: (functionName: string) => string;
}

/** The folder of this package. */
const HERE = join(import.meta.dirname, '..');

const ACTIONS: Readonly<Record<string, string>> = {
  created: 'started',
  input_asked: 'asks its client',
  input_answered: 'is answered',
  cancelled: 'is cancelled',
};

export function terminal({ verbose, write, now, nameOf }: TerminalOptions): Terminal {
  const say = (text: string) => write(`${now().toTimeString().slice(0, 8)}  ${printable(text)}\n`);
  return {
    say,
    problem: (text) => say(`✗ ${text}`),
    log(source, line) {
      // CloudWatch would make metrics of this line, which comes every minute.
      if (line.startsWith('{"_aws":')) return;
      if (verbose) return say(`${source}: ${oneLine(line)}`);
      const json = parsed(line);
      const isEvent = json !== undefined && 'event' in json;
      const text = json === undefined ? crash(line) : isEvent ? eventWords(json) : toolText(json);
      if (text === undefined) say(`${nameOf(source)} │ ${oneLine(line)}`);
      else if (text !== '') say(isEvent ? oneLine(text) : text.replace(/^│/, `${nameOf(source)} │`));
    },
  };
}

const parsed = (line: string, pattern = /^(\{"(?:event|timestamp)":.*)$/s): JsonObject | undefined =>
  parsedObject(pattern.exec(line)?.[1]);

/** Puts a line of the server into words: '' if it says nothing to an author, undefined for an unknown event. */
function eventWords(facts: JsonObject): string | undefined {
  const { event, action, tool, status, reason, round } = facts;
  const task = `${tool ?? 'task'} ${shortId(facts.taskId)}`;
  if (event === 'result_misfit') {
    return `✗ ${tool}: its structuredContent does not fit its outputSchema: ${listOf(facts.problems).join('; ')}`;
  }
  if (event === 'answer_ignored') {
    const open = listOf(facts.openKeys).join(', ') || 'none';
    return `✗ ${task}: an answer came under a key that is not open (open: ${open})`;
  }
  if (event !== 'audit') return undefined;
  if (action === 'retrieved') return '';
  if (action === 'denied')
    return `✗ refused${facts.taskId === undefined ? '' : ` ${shortId(facts.taskId)}`}: ${reason}`;
  if (action === 'finished') {
    const mark = status === 'completed' && facts.isError !== true ? '✓' : '✗';
    const how = status === 'completed' && facts.isError === true ? 'returned an error' : status;
    const advice = ADVICE[String(reason)];
    return `${mark} ${task} ${how}${reason === undefined ? '' : `: ${reason}`}${advice === undefined ? '' : ` (${advice})`}`;
  }
  const again = (numberOf(round) ?? 1) > 1 ? ` (round ${round})` : '';
  return `  ${task} ${ACTIONS[String(action)] ?? action}${again}`;
}

/** The text of a tool's log line in JSON, with its task if `defineTool` has named one. */
function toolText({ level, message }: JsonObject): string | undefined {
  // Another logger wrote it.
  if (level === undefined || message === undefined) return undefined;
  const facts = objectOf(message);
  const said = facts.tool === undefined || facts.stackTrace !== undefined ? message : facts.message;
  const { errorType, errorMessage, stackTrace } = objectOf(said);
  const mark = level === 'ERROR' ? ' ✗' : '';
  if (stackTrace !== undefined) return `│${mark}${of(facts)} ${errorText(errorType, errorMessage, stackTrace)}`;
  return `│${mark}${of(facts)} ${marked(stringOf(said) ?? JSON.stringify(said))}`;
}

/** `Invoke Error {…}`: what a function threw, with its own files and lines. */
function crash(line: string): string | undefined {
  const error = parsed(line, /^Invoke Error (\{.*\})$/s);
  if (error === undefined) return undefined;
  const { errorType, errorMessage, trace, ...facts } = error;
  const advice = ADVICE[String(errorType)];
  return `│ ✗${of(facts)} ${errorText(errorType, errorMessage, trace)}${advice === undefined ? '' : ` (${advice})`}`;
}

function errorText(type: unknown, message: unknown, trace: unknown): string {
  const lines = listOf(trace).map(String);
  // The code that runs the tool says nothing to its author.
  const own = lines.filter(
    (one) => /^\s+at /.test(one) && !/node:internal|node_modules/.test(one) && !one.includes(HERE),
  );
  const first = `${stringOf(type) ?? 'Error'}: ${message ?? lines[0] ?? ''}`;
  return [marked(first), ...own.map((one) => one.replaceAll('\n', ' '))].join('\n');
}

/** Marks the further lines of a tool's text, so that none can pass for a line of `dev`. */
const marked = (text: string): string => text.replaceAll('\n', '\n    │ ');

/** The task of a line, and the attempt if it is not the first. */
function of({ taskId, attempt }: JsonObject): string {
  const again = (numberOf(attempt) ?? 0) > 0 ? ` (attempt ${attempt})` : '';
  return taskId === undefined ? '' : ` ${shortId(taskId)}${again}`;
}

/** The end of an id: the beginning is the time, which tasks of one moment share. */
const shortId = (id: unknown): string => (typeof id === 'string' ? `…${id.slice(-10)}` : '');
