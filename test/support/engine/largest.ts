import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskEvent, TaskRecord } from '../../../functions/tasks/record.ts';
import { refuseAnswer } from '../../../functions/tasks/transitions/answers.ts';
import { after, type Change } from '../../../functions/tasks/transitions/change.ts';
import { receive } from '../../../functions/tasks/transitions/waits.ts';

const NOW = 1_764_347_432_123;
/** No clock of a test comes so far. */
const FAR = 9_764_347_432_123;
/** What a client adds at most by a call. */
const CALLED = {
  accepts: ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'],
  progressToken: 'ö'.repeat(limits.progressToken / 2),
  digest: 'd'.repeat(43),
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  call: 'c'.repeat(22),
};

/**
 * An open record with all that its client, its tool, its waits and its events add at most, in the order in which it comes: signals
 * come early, the round ends with as many waits as there is room for, and the workflow adds events that it does not count. One that
 * asks gets signals for its waits, and refuses answers. Of one that waits none is over.
 */
export function largestOf(made: TaskRecord, status: 'waiting' | 'input_required'): TaskRecord {
  const { ofRound, bytes } = limits.waits;
  const { asked = '', arguments: args = '', caller = '' } = made;
  const used = Buffer.byteLength(asked + args + caller);
  const wait = { kind: 'link', until: FAR } as const;
  const room = (bytes - used - '{}'.length) / ofRound - Buffer.byteLength(JSON.stringify(wait)) - '"":,'.length;
  const names = Array.from({ length: ofRound }, (_, n) => `${n}`.padEnd(Math.floor(room), 'x'));
  const later = {
    round: 99,
    seenRound: 99,
    reportsFrom: 98,
    engine: 'express',
    outputSchemaId: 's'.repeat(16),
  } as const;
  let record: TaskRecord = { ...made, ...CALLED, ...later, status: 'working', legacy: true };

  const by = (writer: TaskEvent['by'], { event, ...change }: Change): Change => {
    const mark = writer === 'signals' && { mark: 'abcdefgh' };
    return { ...change, ...(event && { event: { ...event, by: writer, ...mark } as TaskEvent }) };
  };
  const signal = (name: string) => {
    const stored = { round: 99, signal: { action: 'accept', by: '', at: NOW } } as never;
    const received = after(record, by('signals', receive(record, name, stored, NOW)));
    return { ...received, inputResponses: made.inputResponses ?? {} };
  };
  for (let n = 0; n < 2 * ofRound; n++) {
    const next = signal(`e${n}`.padEnd(20, 'x'));
    if (next.early !== 0) record = next;
  }
  record = { ...record, status, waits: JSON.stringify(Object.fromEntries(names.map((name) => [name, wait]))) };
  const ofWorkflow = { at: NOW, what: 'asked', round: 99, startedAt: NOW, retries: 12 } as const;
  const added = Array.from({ length: limits.events.workflowRounds }, () => ofWorkflow);
  record = { ...record, events: [...record.events, ...added] };
  if (status === 'waiting') return record;
  for (const name of names) record = signal(name);
  for (let n = 1; n < limits.refusals.ofRound; n++) {
    record = after(record, by('endpoint', refuseAnswer(record, `r99.question ${n}`, NOW)));
  }
  return record;
}
