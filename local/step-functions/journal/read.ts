import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { StateMachineSpec } from '../types.ts';
import type { AnsweredRecord, ClosedRecord, EndedRecord, JournalRecord, StartedRecord } from './records.ts';

/** What a journal tells: the state of all executions when the process ended. */
export interface Recorded {
  readonly closed: readonly ClosedRecord[];
  readonly running: readonly Running[];
}

export interface Running {
  readonly spec: StateMachineSpec;
  readonly started: StartedRecord;
  readonly called: Set<number>;
  readonly answers: AnsweredRecord[];
  /** Its records as they stand in the file, with the newline. */
  readonly lines: string[];
}

/** Reads a journal, a file that does not exist as an empty one. A last line that was not written to its end is none. */
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

  for (const text of existsSync(file) ? linesOf(file) : []) {
    line += 1;
    try {
      read(JSON.parse(text) as JournalRecord, `${text}\n`);
    } catch (thrown) {
      const why = (thrown as Error).message;
      throw new Error(`${file}, line ${line}: ${why} (remove the file to start without the executions of before)`);
    }
  }
  return { closed, running: [...running.values()] };
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

/** The lines that end in a newline, one after the other: the whole may be longer than a string can be. */
function* linesOf(file: string): Generator<string> {
  const fd = openSync(file, 'r');
  try {
    let rest: Buffer[] = [];
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const left = chunk.subarray(0, readSync(fd, chunk));
      if (left.length === 0) return;
      let begin = 0;
      for (let end = left.indexOf(NEWLINE); end >= 0; end = left.indexOf(NEWLINE, begin)) {
        yield Buffer.concat([...rest, left.subarray(begin, end)]).toString();
        rest = [];
        begin = end + 1;
      }
      rest.push(left.subarray(begin));
    }
  } finally {
    closeSync(fd);
  }
}
