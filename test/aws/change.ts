import { expect } from 'vitest';
import { runFailure } from '../../functions/tasks/failures.ts';

type Attributes = Readonly<Record<string, unknown>>;

/** A change of the record as the workflow passes it between states, without its placeholders. */
export interface DecodedChange {
  readonly set: Attributes;
  readonly remove: readonly string[];
  /** The values of the condition. */
  readonly when: Attributes;
}

const CHANGE = /^SET (.+?)(, #events = list_append\(if_not_exists\(#events, :noEvents\), :event\))? REMOVE (.+)$/;
const EVENTS: Attributes = { completed: 'completed', failed: 'failed', input_required: 'asked' };

/** The event of a change to this status. */
const eventOf = (status: unknown) =>
  expect.objectContaining({ at: someTime, what: { S: EVENTS[String(status)] }, round: { N: '2' } });

/** Reads `SET #a = :a, … REMOVE #b, …`: every name and value stands for its attribute, and none is there for nothing. */
export function decode(update: string, names: Attributes, values: Attributes): DecodedChange {
  const [, sets = '', added, removes = ''] = CHANGE.exec(update) ?? [];
  const set = sets.split(', ').map((text) => /^#(\w+) = :\1$/.exec(text)?.[1] ?? `? ${text}`);
  const remove = removes.split(', ').map((text) => text.replace(/^#/, ''));
  const used = ['round', 'deadlineAt', ...set, ...remove, ...(added === undefined ? [] : ['events'])];
  expect(names).toEqual({
    ...Object.fromEntries(used.map((name) => [`#${name}`, name])),
    ...('#status' in names && { '#status': 'status' }),
  });
  const { ':noEvents': none, ':event': event, ...others } = values;
  if (added !== undefined)
    expect([none, event]).toEqual([{ L: [] }, { L: [{ M: eventOf(objectOf(values[':status']).S) }] }]);
  const isSet = (placeholder: string) => set.includes(placeholder.slice(1));
  const pick = (keep: (placeholder: string) => boolean) =>
    Object.fromEntries(
      Object.entries(others)
        .filter(([placeholder]) => keep(placeholder))
        .map(([placeholder, value]) => [placeholder.slice(1), value]),
    );
  return { set: pick(isSet), remove: remove.toSorted(), when: pick((placeholder) => !isSet(placeholder)) };
}

/** Reads the change in a state's output, which Finish gets. */
export function decodedOutput(output: unknown): unknown {
  if (!isObject(output) || typeof output.update !== 'string') return output;
  return decode(output.update, objectOf(output.names), objectOf(output.values));
}

/** Reads the change in the request of Finish. */
export function decodedArguments(sent: unknown): unknown {
  if (!isObject(sent) || typeof sent.UpdateExpression !== 'string') return sent;
  const { UpdateExpression, ExpressionAttributeNames, ExpressionAttributeValues, ...rest } = sent;
  const names = objectOf(ExpressionAttributeNames);
  return { ...rest, ...decode(UpdateExpression, names, objectOf(ExpressionAttributeValues)) };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const objectOf = (value: unknown) => (isObject(value) ? value : {});

/** The attributes that a change removes. */
const INPUT = ['asked', 'arguments', 'inputResponses', 'inputRef', 'waits', 'signalled', 'early', 'refused'];
const ENDED = ['due', 'dueAt', ...INPUT, 'progressToken'].toSorted();
export const removed = { failed: ENDED, completed: ENDED, asking: ['refused'] };

/** The clock of the engine that evaluates the expression. */
export const someTime = { N: expect.stringMatching(/^\d{13}$/) };
const when = { working: { S: 'working' }, inRound: { N: '2' } };

/** A status, with the partition of the task `t` in the index of operators. */
const status = (name: string) => ({ status: { S: name }, statusShard: { S: `${name}#2` } });

/** The change that completes the task with this text. */
export function completes(text: string, isError = false): DecodedChange {
  const set = { ...status('completed'), updatedAt: someTime, result: { S: text }, isError: { BOOL: isError } };
  return { set, remove: removed.completed, when };
}

/** The change that fails the task, for this reason and with this message; nothing else of the error is in it. */
export function fails(reason: string, message = 'The tool failed', more: object = {}): DecodedChange {
  const error = { code: -32603, message, data: { reason, ...more } };
  return {
    set: {
      ...status('failed'),
      updatedAt: someTime,
      failure: { S: runFailure(reason).reason },
      statusMessage: { S: message },
      error: { S: asJson(error) },
    },
    remove: removed.failed,
    when,
  };
}

/** The change that waits for answers to these questions. */
export function asks(text: string, args: string, deadlineAt: number): DecodedChange {
  return {
    set: {
      ...status('input_required'),
      updatedAt: someTime,
      asked: { S: text },
      arguments: { S: args },
      dueAt: { N: String(deadlineAt + 30_000) },
    },
    remove: removed.asking,
    when,
  };
}

/** JSON text of this value, its members in any order. */
function asJson(value: unknown): string {
  return expect.toSatisfy((text: unknown) => {
    expect(JSON.parse(String(text))).toEqual(value);
    return true;
  }) as string;
}
