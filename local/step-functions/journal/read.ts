import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { StateMachineSpec } from '../types.ts';
import type { AnsweredRecord, ClosedRecord, EndedRecord, JournalRecord, StartedRecord } from './records.ts';

/** The content of a journal: the state of all executions when the process ended. */
export interface Recorded {
  readonly closed: readonly ClosedRecord[];
  readonly running: readonly Running[];
  /** What was cut at the end of the file, as a sentence. */
  readonly cut?: string;
}

export interface Running {
  readonly spec: StateMachineSpec;
  readonly started: StartedRecord;
  readonly called: Set<number>;
  readonly answers: AnsweredRecord[];
  /** Its records exactly as in the file, with the newline. */
  readonly lines: string[];
}

/**
 * Reads a journal. A missing file counts as empty. A broken last line is cut: the process or the machine ended while it
 * was written. A broken line before others is refused, because all later lines would be lost with it.
 */
export function readJournal(file: string): Recorded {
  const machines = new Map<string, StateMachineSpec>();
  const running = new Map<number, Running>();
  const closed: ClosedRecord[] = [];
  let line = 0;

  const read = (record: JournalRecord, text: string) => {
    if (record.type === 'machine') return machines.set(record.machine, record.spec);
    if (record.type === 'closed') return closed.push(record);
    if (record.type === 'started') return running.set(record.execution, begun(machines, record, text));
    const execution = known(running, record.execution);
    if (record.type === 'ended') {
      running.delete(record.execution);
      return closed.push(summary(execution, record));
    }
    if (record.type === 'called') execution.called.add(record.ask);
    else execution.answers.push(record);
    return execution.lines.push(text);
  };

  let cut: string | undefined;
  for (const { text, whole, last } of existsSync(file) ? linesOf(file) : []) {
    line += 1;
    const record = whole ? parsed(text) : undefined;
    try {
      if (record !== undefined) read(record, `${text}\n`);
      else if (last)
        cut = `${file}: line ${line}, the last one, is broken and is left out (${Buffer.byteLength(text)} bytes)`;
      else throw new Error('it is not JSON');
    } catch (thrown) {
      const why = (thrown as Error).message;
      const help = `keep a copy of the file, then cut it before this line to start with what happened until then`;
      throw new Error(`${file}, line ${line}: ${why} (${help})`);
    }
  }
  return { closed, running: [...running.values()], ...(cut !== undefined && { cut }) };
}

function parsed(text: string): JournalRecord | undefined {
  try {
    return JSON.parse(text) as JournalRecord;
  } catch {
    return undefined;
  }
}

function begun(machines: ReadonlyMap<string, StateMachineSpec>, started: StartedRecord, text: string): Running {
  const spec = machines.get(started.machine);
  if (spec === undefined) throw new Error(`no definition ${started.machine}`);
  return { spec, started, called: new Set(), answers: [], lines: [text] };
}

function known(running: ReadonlyMap<number, Running>, number: number): Running {
  const execution = running.get(number);
  if (execution === undefined) throw new Error(`no execution ${number} is running`);
  return execution;
}

function summary({ spec, started: { arn, startDate, input } }: Running, ended: EndedRecord): ClosedRecord {
  return { ...ended, arn, stateMachineArn: spec.arn, startDate, input };
}

const CHUNK = 2 ** 20;
const NEWLINE = 0x0a;

interface Line {
  readonly text: string;
  /** Whether it ends in a newline. */
  readonly whole: boolean;
  readonly last: boolean;
}

/** The lines of a file, one by one: together they may exceed the longest string. */
function* linesOf(file: string): Generator<Line> {
  const fd = openSync(file, 'r');
  const size = fstatSync(fd).size;
  let seen = 0;
  let rest: Buffer[] = [];
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const read = chunk.subarray(0, readSync(fd, chunk));
      if (read.length === 0) break;
      let begin = 0;
      for (let end = read.indexOf(NEWLINE); end >= 0; end = read.indexOf(NEWLINE, begin)) {
        const text = Buffer.concat([...rest, read.subarray(begin, end)]).toString();
        rest = [];
        begin = end + 1;
        yield { text, whole: true, last: seen + begin === size };
      }
      rest.push(read.subarray(begin));
      seen += read.length;
    }
    const text = Buffer.concat(rest).toString();
    if (text !== '') yield { text, whole: false, last: true };
  } finally {
    closeSync(fd);
  }
}
