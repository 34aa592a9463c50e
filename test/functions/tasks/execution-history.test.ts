import { Readable } from 'node:stream';
import { type HistoryEvent, SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { currentState, openState } from '../../../functions/tasks/execution-history.ts';

const enter = (name: string, at = 0) => ({ timestamp: new Date(at), stateEnteredEventDetails: { name } });
const leave = (name: string) => ({ timestamp: new Date(0), stateExitedEventDetails: { name } });
const other = { timestamp: new Date(0) };
/** Written in the order in which they happened. */
const stateAfter = (...events: Partial<HistoryEvent>[]) => openState([...events].reverse() as HistoryEvent[])?.name;

describe('the state an execution is in', () => {
  test.each<[string, string | undefined, Partial<HistoryEvent>[]]>([
    ['none yet', undefined, [other]],
    ['the first', 'A', [other, enter('A')]],
    ['one whose task runs', 'A', [enter('A'), other, other]],
    ['the next', 'B', [enter('A'), leave('A'), enter('B')]],
    ['none in between', undefined, [enter('A'), leave('A')]],
    ['the one around it, in between', 'Map', [enter('Map'), enter('A'), leave('A')]],
    ['the branch that is not done yet', 'A', [enter('Both'), enter('A'), enter('B'), leave('B')]],
    ['one of many iterations', 'A', [enter('Map'), enter('A'), enter('A'), leave('A')]],
    ['again in a loop', 'A', [enter('A'), leave('A'), enter('B'), leave('B'), enter('A')]],
    ['unknown, where only ends are left to see', undefined, [leave('A'), leave('B'), other]],
  ])('%s', (_title, name, events) => {
    expect(stateAfter(...events)).toBe(name);
  });

  test('is unknown without events, and since the epoch without a time', async () => {
    const silent = { send: async () => ({}) } as unknown as SFNClient;
    expect(await currentState(silent, 'arn:e')).toBeUndefined();
    const timeless = [{ stateEnteredEventDetails: { name: 'A' } }] as HistoryEvent[];
    expect(openState(timeless)).toEqual({ name: 'A', enteredAt: 0 });
  });

  test('since it was entered', () => {
    expect(openState([other, enter('B', 7), leave('A')] as HistoryEvent[])).toEqual({ name: 'B', enteredAt: 7 });
  });
});

describe('the question', () => {
  const asked: { headers: Record<string, string>; body: unknown }[] = [];
  const sfn = (statusCode: number, answer: object, headers = {}) =>
    new SFNClient({
      region: 'eu-west-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      maxAttempts: 1,
      requestHandler: {
        async handle(request: { headers: Record<string, string>; hostname: string; body: Uint8Array }) {
          asked.push({
            headers: { ...request.headers, host: request.hostname },
            body: JSON.parse(new TextDecoder().decode(request.body)),
          });
          return { response: { statusCode, headers, body: Readable.from([Buffer.from(JSON.stringify(answer))]) } };
        },
      } as never,
    });

  test('is GetExecutionHistory, newest events first, without data; only needed fields are read', async () => {
    const events = [
      { id: 3, type: 'TaskScheduled', timestamp: 1.5, taskScheduledEventDetails: { parameters: '{}', resource: 'x' } },
      { id: 2, type: 'TaskStateEntered', timestamp: 1.25, stateEnteredEventDetails: { name: 'A', inputDetails: {} } },
      { id: 1, type: 'ExecutionStarted', timestamp: 1 },
    ];
    const state = await currentState(sfn(200, { events, nextToken: 't' }), 'arn:e');
    expect(state).toEqual({ name: 'A', enteredAt: 1_250 });
    const [{ headers, body } = { headers: {} }] = asked;
    expect(headers).toMatchObject({
      host: 'states.eu-west-1.amazonaws.com',
      'x-amz-target': 'AWSStepFunctions.GetExecutionHistory',
      authorization: expect.stringContaining('/eu-west-1/states/aws4_request'),
    });
    expect(body).toEqual({ executionArn: 'arn:e', maxResults: 30, reverseOrder: true, includeExecutionData: false });
  });

  test('fails by the name of its error', async () => {
    const answer = { __type: 'com.amazonaws.swf.service.v2.model#ExecutionDoesNotExist', message: 'no' };
    const look = currentState(sfn(400, answer), 'arn:e');
    await expect(look).rejects.toThrow(expect.objectContaining({ name: 'ExecutionDoesNotExist' }));
  });
});
