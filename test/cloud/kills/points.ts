import type { Choose, FaultCall } from '../../../local/testing.ts';

/** A point where the process may die: a call, before or after its execution, with more conditions. */
interface Point {
  readonly call: Pick<FaultCall, 'service' | 'operation' | 'at'>;
  /** Whether the caller is a state machine, which has no worker, or a function. */
  readonly by: 'machine' | 'function';
  /** A text in its input. */
  readonly text?: RegExp;
}

const [put, write] = [
  { service: 'dynamodb', operation: 'PutItem' },
  { service: 'dynamodb', operation: 'UpdateItem' },
] as const;
const start = { service: 'states', operation: 'StartExecution' } as const;
const stop = { service: 'states', operation: 'StopExecution' } as const;
const invoke = { service: 'lambda', operation: 'Invoke' } as const;
const [before, after] = [{ at: 'before' }, { at: 'after' }] as const;

export const points = {
  'the record is there, and no run': { call: { ...put, ...after }, by: 'function' },
  'the run is there, and no answer': { call: { ...start, ...after }, by: 'function', text: /-r1"/ },
  'an answer is stored, and its round is not started': {
    call: { ...write, ...after },
    by: 'function',
    text: /":answerCount"/,
  },
  'a cancel is stored, and the run is not stopped': {
    call: { ...write, ...after },
    by: 'function',
    text: /"Cancelled by the client"/,
  },
  'the outcome is not stored': { call: { ...write, ...before }, by: 'machine' },
  'the outcome is stored, and the workflow does not know': { call: { ...write, ...after }, by: 'machine' },
  'the round of an answer is started, and no answer': { call: { ...start, ...after }, by: 'function', text: /-r2"/ },
  'the run of a cancelled task is stopped, and no answer': { call: { ...stop, ...after }, by: 'function' },
  'the tool is not called': { call: { ...invoke, ...before }, by: 'machine' },
  'the tool has answered, and the workflow does not know': { call: { ...invoke, ...after }, by: 'machine' },
} as const satisfies Record<string, Point>;

export type PointName = keyof typeof points;

/** Kills the process at the nth call that reaches a point. */
export function killAt(name: PointName, nth: number): Choose {
  const { call, by, text }: Point = points[name];
  let come = 0;
  return (one) => {
    const same = one.service === call.service && one.operation === call.operation && one.at === call.at;
    if (!same || (one.worker === undefined) !== (by === 'machine')) return undefined;
    if (text !== undefined && !text.test(JSON.stringify(one.input))) return undefined;
    come += 1;
    return come === nth ? 'killProcess' : undefined;
  };
}
