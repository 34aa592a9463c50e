/** The parts of the embedded cloud that only tests use. All others import `cloud.ts`. */

import type { StreamRecord } from './dynamodb/stream/index.ts';
import type { AcceptedEvent } from './events/index.ts';
import type { Faults } from './faults/index.ts';
import type { Permissions } from './iam/index.ts';
import type { TopicMessage } from './sns/topics.ts';
import type { Clock } from './time/clock.ts';
import type { CallLog } from './wire/call-log.ts';

export { AwsError } from './aws-error.ts';
export { startDynamoDb } from './dynamodb/index.ts';
export type { StreamRecord } from './dynamodb/stream/index.ts';
export { loadDatabase } from './dynamodb/text-sizes.ts';
export { indexWriteUnits, mapSize } from './dynamodb/units.ts';
export type { AcceptedEvent, Event } from './events/index.ts';
export { ConnectionLost, randomFaults } from './faults/index.ts';
export type * from './faults/types.ts';
export { createIam, type Permissions } from './iam/index.ts';
export type { Grant } from './iam/ledger.ts';
export { type JsonObject, listOf, objectOf } from './json.ts';
export type { InvokeResult } from './lambda/index.ts';
export { heapBytes } from './lambda/worker/heap.ts';
export { matchesLogicalId } from './logical-id.ts';
export { close, listen } from './loopback.ts';
export { isExpired } from './s3/lifecycle.ts';
export { asStatesError } from './step-functions/errors.ts';
export { createRecorder, newHistory } from './step-functions/history.ts';
export {
  createStepFunctions,
  type ExecutionSnapshot,
  type Integration,
  type IntegrationCall,
  type StateMachineSpec,
  StatesError,
} from './step-functions/index.ts';
export { CATALOG, type CatalogEntry } from './step-functions/integrations/catalog.ts';
export { createIntegrations } from './step-functions/integrations/integrations.ts';
export { openJournal } from './step-functions/journal/file.ts';
export { readJournal } from './step-functions/journal/read.ts';
export type { Answer } from './step-functions/journal/records.ts';
export { BOUNDS, compileExpression, type Expression, JsonataFailure } from './step-functions/jsonata/expression.ts';
export { awsFunctions } from './step-functions/jsonata/functions.ts';
export { STATE_TYPES } from './step-functions/machine/flow.ts';
export { loadMachine, type Machine } from './step-functions/machine/machine.ts';
export { createRandom } from './step-functions/random.ts';
export type { Replay } from './step-functions/replay.ts';
export { runExecution } from './step-functions/run.ts';
export { readAssembly } from './template/assembly.ts';
export { resolveStack } from './template/resources.ts';
export { type MachineResource, readSpecs, type TableResource } from './template/specs.ts';
export { readProject, synthApp } from './template/synth.ts';
export type { Clock } from './time/clock.ts';
export * from './wire/call-log.ts';

/** Options of `startCloud` for tests. */
export interface TestingOptions {
  /** Whether `cloud.clock` can be moved, and the clocks of the functions with it. Excludes `now`. @default false */
  readonly movableClock?: boolean;
  /** Keeps every AWS call, with the capacity it consumed, in `cloud.calls`. Makes writes slower. @default false */
  readonly recordCalls?: boolean;
  /** Whether the fault `killProcess` may end this process. @default false */
  readonly mortal?: boolean;
}

/** The parts of a running cloud that tests read and change. */
export interface TestingControls {
  /** Faults that a test adds: calls that are lost, fail or wait, workers that die. */
  readonly faults: Faults;
  /** Moves time, with `movableClock`. */
  readonly clock: Clock;
  /** The messages that were published to each topic, by its name. */
  readonly topics: ReadonlyMap<string, readonly TopicMessage[]>;
  /** The changes of the tables with a stream. */
  readonly streams: {
    /** Resolves once the functions have dealt with all records, or these were given up. */
    drained(): Promise<void>;
    /** The latest 1,000 records of a table, the oldest first. @param table its name */
    records(table: string): readonly StreamRecord[];
  };
  readonly events: {
    /** The latest 10,000 events that clients put on a bus, the oldest first. */
    accepted(): readonly AcceptedEvent[];
  };
  /** The AWS calls that were made, with `recordCalls`. */
  readonly calls: CallLog;
  /** The grants of the template's policies, and which of them no call has used. */
  readonly permissions: Permissions;
}
