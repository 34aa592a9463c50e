import type { FaultBench } from '../../faults/index.ts';
import type { Iam } from '../../iam/index.ts';
import type { JsonObject } from '../../json.ts';
import type { Lambda } from '../../lambda/index.ts';
import type { Connection } from '../../template/connections.ts';
import type { CallLog } from '../../wire/call-log.ts';
import type { WireResponse } from '../../wire/types.ts';

/** A service that integrations call by AWS JSON. */
export type JsonServiceName = 'dynamodb' | 'sqs' | 'sns' | 'events';

/** How integrations reach the rest of the embedded cloud. */
export interface IntegrationOptions {
  readonly lambda: Pick<Lambda, 'invoke'>;
  /** @default no faults */
  readonly bench?: Pick<FaultBench, 'withFaults' | 'strike'>;
  /** @default every call is allowed */
  readonly iam?: Pick<Iam, 'denied'>;
  /** Calls an operation of a service that speaks AWS JSON. Throws if there is no answer. */
  readonly send: (
    service: JsonServiceName,
    operation: string,
    input: JsonObject,
    accessKey: string,
  ) => Promise<Pick<WireResponse, 'status' | 'body'>>;
  /** The AWS endpoint of the embedded cloud. */
  readonly endpoint: string;
  readonly region: string;
  /** The connections of HTTP tasks, by ARN. @default none */
  readonly connections?: ReadonlyMap<string, Connection>;
  readonly calls: CallLog;
  readonly now: () => number;
  /** The access key of a role: its logical id. */
  readonly accessKeyOfRole: (roleArn: string) => string;
  /** Resolves once an execution has closed. */
  readonly closed: (executionArn: string) => Promise<void>;
  /** Divides the pauses between polls of an execution. @default 1 */
  readonly timeScale?: number;
}
