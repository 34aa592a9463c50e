import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openJournal } from '../../../step-functions/journal/file.ts';
import { readJournal } from '../../../step-functions/journal/read.ts';
import type { ClosedRecord, StartedRecord } from '../../../step-functions/journal/records.ts';
import { temporaryDir } from '../../fixture.ts';
import { executionArn, machineArn, single } from '../support.ts';

let file = '';
beforeEach(() => {
  const dir = temporaryDir();
  file = join(dir, 'journal.jsonl');
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
});

const spec = single({ Type: 'Pass' });
const started = (execution: number, more: Partial<StartedRecord> = {}): StartedRecord => ({
  execution,
  machine: 'hash',
  arn: executionArn(`e${execution}`),
  startDate: 1,
  input: '{}',
  seed: 's',
  ...more,
});
const answer = (execution: number, ask: number, result: unknown = null) => ({
  execution,
  ask,
  state: 'S',
  at: 5,
  answer: { result },
});
const ended = (execution: number) =>
  ({ execution, status: 'SUCCEEDED', stopDate: 9, transitions: 1, output: '1' }) as const;
const closed = (execution: number): ClosedRecord => ({
  ...ended(execution),
  arn: executionArn(`e${execution}`),
  stateMachineArn: machineArn(),
  startDate: 1,
  input: '{}',
});

/** A journal on the file, and its closed executions. */
function open(compactAt?: number) {
  const known = readJournal(file);
  const over = [...known.closed];
  const journal = openJournal({ file, running: known.running, closed: () => over, compactAt });
  onTestFinished(() => journal.close());
  return { journal, over };
}
const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n');
const types = () => lines().map((line) => JSON.parse(line).type);

describe('a record', () => {
  it('is on disk when the call returns, and is read back unchanged', () => {
    const { journal } = open();
    journal.started(started(1), spec);
    journal.called({ execution: 1, ask: 1 });
    journal.answered(answer(1, 1, { text: 'größer\n' }));
    journal.started(started(2), spec);
    journal.ended(ended(2));
    expect(types()).toEqual(['machine', 'started', 'called', 'answered', 'started', 'ended']);
    const { running, closed: over } = readJournal(file);
    expect(running).toMatchObject([{ spec, started: started(1), answers: [answer(1, 1, { text: 'größer\n' })] }]);
    expect(running[0]?.called).toEqual(new Set([1]));
    expect(over).toEqual([{ type: 'ended', ...closed(2) }]);
  });

  it('cannot be read by other users', () => {
    open();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is dropped once the journal is closed', () => {
    const { journal } = open();
    journal.started(started(1), spec);
    journal.close();
    journal.ended(ended(1));
    expect(readJournal(file).running).toHaveLength(1);
  });
});

describe('a file that the last process left', () => {
  it('may end in the middle of a line, which never happened', () => {
    const { journal } = open();
    journal.started(started(1), spec);
    journal.started(started(2), spec);
    journal.close();
    const whole = readFileSync(file);
    for (const cut of [1, 2, 30]) {
      writeFileSync(file, whole.subarray(0, whole.length - cut));
      expect(readJournal(file).running.map((one) => one.started.execution)).toEqual([1]);
      expect(readJournal(file).cut).toContain('line 3, the last one, is broken and is left out');
    }
    const again = open();
    again.journal.started(started(3), spec);
    expect(readJournal(file).running.map((one) => one.started.execution)).toEqual([1, 3]);
  });

  it('may end in a line of zeros, which a power cut leaves', () => {
    const { journal } = open();
    journal.started(started(1), spec);
    journal.close();
    appendFileSync(file, `${'\0'.repeat(40)}\n`);
    expect(readJournal(file)).toMatchObject({
      running: [{ called: new Set() }],
      cut: expect.stringContaining('line 3'),
    });
  });

  it('may have lines longer than one read', () => {
    const { journal } = open();
    const long = 'é'.repeat(1_500_000);
    journal.started(started(1, { input: long }), spec);
    journal.started(started(2), spec);
    const { running } = readJournal(file);
    expect(running[0]?.started.input === long).toBe(true);
    expect(running).toHaveLength(2);
  });

  it.each([
    ['is not JSON', '{"type":', 'line 3'],
    ['speaks of an execution that is not there', '{"type":"called","execution":7,"ask":1}', 'no execution 7'],
    ['speaks of a definition that is not there', '{"type":"started","execution":7,"machine":"x"}', 'no definition x'],
  ])('is refused, with the line, when a line in the middle %s', (_, line, why) => {
    const { journal } = open();
    journal.started(started(1), spec);
    journal.close();
    appendFileSync(file, `${line}\n{"type":"called","execution":1,"ask":1}\n`);
    expect(() => readJournal(file)).toThrow(why);
    expect(() => readJournal(file)).toThrow(`${file}, line 3`);
  });
});

describe('the journal does not grow without a bound', () => {
  it('at the start it is rewritten: one line per closed execution, without answers', () => {
    const first = open();
    first.journal.started(started(1), spec);
    for (let ask = 1; ask <= 50; ask += 1) first.journal.answered(answer(1, ask));
    first.journal.ended(ended(1));
    first.journal.started(started(2), spec);
    first.journal.answered(answer(2, 1, 'kept'));
    first.journal.close();
    const before = readJournal(file);
    open();
    expect(types()).toEqual(['machine', 'started', 'answered', 'closed']);
    const after = readJournal(file);
    expect(after.running).toEqual(before.running);
    expect(after.closed).toEqual([{ type: 'closed', ...closed(1) }]);
  });

  it('a definition is there once for all its executions, and goes with the last one', () => {
    const { journal, over } = open(10_000);
    for (let i = 1; i <= 5; i += 1) journal.started(started(i), spec);
    journal.started(started(6, { machine: 'other' }), spec);
    expect(types().filter((type) => type === 'machine')).toHaveLength(2);
    for (let i = 1; i <= 5; i += 1) {
      journal.ended(ended(i));
      over.push(closed(i));
    }
    journal.started(started(7, { machine: 'other', input: 'x'.repeat(10_000) }), spec);
    journal.started(started(8), spec);
    const machines = lines().flatMap((line) => JSON.parse(line).machine ?? []);
    expect(machines).toEqual(['other', 'other', 'other', 'hash', 'hash']);
    expect(readJournal(file).running.map((one) => one.started.execution)).toEqual([6, 7, 8]);
  });

  it('past its bound it is rewritten while in use, and loses nothing', () => {
    const { journal, over } = open(5_000);
    let largest = 0;
    for (let i = 1; i <= 200; i += 1) {
      journal.started(started(i), spec);
      journal.answered(answer(i, 1, 'x'.repeat(300)));
      if (i % 10 !== 0) {
        journal.ended(ended(i));
        over.push(closed(i));
        if (over.length > 20) over.shift();
      }
      largest = Math.max(largest, statSync(file).size);
    }
    expect(largest).toBeLessThan(50_000);
    const { running } = readJournal(file);
    expect(running.map((one) => one.started.execution)).toEqual(Array.from({ length: 20 }, (_, i) => (i + 1) * 10));
    expect(running.every((one) => one.answers.length === 1)).toBe(true);
    expect(readJournal(file).closed.slice(-20)).toMatchObject(over.slice(-20));
  });

  it('keeps the old file when the new one cannot be written', () => {
    const { journal } = open(1_000);
    journal.started(started(1), spec);
    const blocked = `${file}.new`;
    // A folder of this name has the effect of a full disk, even for the superuser.
    mkdirSync(blocked);
    for (let ask = 1; ask <= 50; ask += 1) journal.answered(answer(1, ask));
    expect(readJournal(file).running[0]?.answers).toHaveLength(50);
  });
});
