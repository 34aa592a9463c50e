import { SFNClient, TestStateCommand, type TestStateOutput } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { decodedArguments, decodedOutput } from './change.ts';
import { testStateLocally } from './local-test-state.ts';
import { definitions, type Row, requestOf, type Workflow } from './row.ts';
import { rows } from './table.ts';

/** Set by `npm run test:aws`. */
const onAws = process.env.TEST_STATE_ON_AWS !== undefined;
const testState = onAws ? askingAws() : (row: Row) => testStateLocally(requestOf(row), row.earlier);

function askingAws(): (row: Row) => Promise<TestStateOutput> {
  // It is throttled below one request in a second.
  // The SDK puts `sync-` before the host of TestState. Only AWS has this host.
  const disableHostPrefix = (process.env.AWS_ENDPOINT_URL_SFN ?? process.env.AWS_ENDPOINT_URL) !== undefined;
  const sfn = new SFNClient({ maxAttempts: 10, retryMode: 'adaptive', disableHostPrefix });
  return (row) => sfn.send(new TestStateCommand(requestOf(row)));
}

const workflows = Object.keys(definitions) as Workflow[];

describe.each(workflows)(
  `the states of the tool workflow '%s' on ${onAws ? 'AWS' : 'the embedded cloud'}`,
  (workflow) => {
    test.each(rows.filter((row) => row.workflow === workflow))('$state: $title', async (row) => {
      const { status, error, nextState, output, inspectionData } = await testState(row);
      const { retryIndex, catchIndex } = inspectionData?.errorDetails ?? {};
      const sent = parsed(inspectionData?.afterArguments);
      const { expected } = row;
      expect({
        ...{ status, error, nextState },
        ...(status === 'RETRIABLE' && { retryIndex }),
        ...(status === 'CAUGHT_ERROR' && { catchIndex }),
        ...('output' in expected && { output: decodedOutput(parsed(output)) }),
        ...('sent' in expected && { sent: decodedArguments(sent) }),
      }).toEqual({ error: undefined, nextState: undefined, ...expected });
    });
  },
);

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

interface Asl {
  readonly States: Readonly<Record<string, { Retry?: { MaxAttempts?: number }[]; Catch?: unknown[] }>>;
}

test.each(workflows)("every state of '%s', every retrier and every catcher of it has a row", (workflow) => {
  const { States }: Asl = JSON.parse(definitions[workflow]);
  const ways = Object.entries(States).flatMap(([state, { Retry = [], Catch = [] }]) => [
    `${state} succeeds`,
    ...Retry.flatMap(({ MaxAttempts }, index) => (MaxAttempts === 0 ? [] : `${state} retry ${index}`)),
    ...Catch.map((_, index) => `${state} catch ${index}`),
  ]);
  const taken = rows
    .filter((row) => row.workflow === workflow)
    .flatMap(({ state, expected }) => {
      if (expected.status === 'SUCCEEDED') return `${state} succeeds`;
      if (expected.status === 'RETRIABLE') return `${state} retry ${expected.retryIndex}`;
      return `${state} catch ${expected.catchIndex}`;
    });
  expect(ways.filter((way) => !taken.includes(way))).toEqual([]);
});
