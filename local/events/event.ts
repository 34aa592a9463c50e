import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import type { ExecutionStatus, StatusChange } from '../step-functions/index.ts';

/** An event as EventBridge delivers it. */
export type Event = JsonObject & { readonly detail: JsonObject };

export const STATUS_CHANGE = { source: 'aws.states', 'detail-type': 'Step Functions Execution Status Change' };
const SCHEDULED = { source: 'aws.events', 'detail-type': 'Scheduled Event' };

/** What an event says about the rule that made it. */
interface RuleSource {
  readonly arn: string;
  readonly account: string;
  readonly region: string;
}

/** What a schedule sends to its targets. */
export function scheduledEvent({ arn, account, region }: RuleSource, at: number): Event {
  return envelope(SCHEDULED, { account, region, resources: [arn], at }, {});
}

/** What Step Functions sends when an execution starts or ends. */
export function statusChangeEvent(change: StatusChange, at: number): Event {
  const { executionArn, stateMachineArn, name, status, startDate, stopDate = null, error, cause } = change;
  const [, , , region = '', account = ''] = executionArn.split(':');
  const { input, output } = payloads(change);
  return envelope(
    STATUS_CHANGE,
    { account, region, resources: [executionArn], at },
    {
      executionArn,
      stateMachineArn,
      name,
      status,
      startDate,
      stopDate,
      input: input.text,
      output: output.text,
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      ...redrive(status),
      inputDetails: input.details,
      outputDetails: output.details,
      error: error ?? null,
      cause: cause ?? null,
    },
  );
}

/** What a client sends by PutEvents. */
export function customEvent({ source, detailType, detail, ...facts }: CustomFacts): Event {
  return envelope({ source, 'detail-type': detailType }, facts, detail);
}

interface CustomFacts extends Facts {
  readonly source: string;
  readonly detailType: string;
  readonly detail: JsonObject;
}

/** The prefix of the sources of AWS services. No other source may have it. */
export const OF_AWS = 'aws.';

interface Facts {
  readonly account: string;
  readonly region: string;
  readonly resources: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

function envelope(kind: typeof STATUS_CHANGE, { account, region, resources, at }: Facts, detail: JsonObject): Event {
  const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  const { source, 'detail-type': type } = kind;
  return { version: '0', id: randomUUID(), 'detail-type': type, source, account, time, region, resources, detail };
}

/** "If the combined escaped input and escaped output exceeds 248KB, the input will be excluded"; likewise the output. */
const PAYLOAD_LIMIT = 248 * 1024;

function payloads({ input, output }: StatusChange) {
  const outputBytes = escapedBytes(output);
  return { input: payload(input, escapedBytes(input) + outputBytes), output: payload(output, outputBytes) };
}

const escapedBytes = (text?: string) => (text === undefined ? 0 : Buffer.byteLength(JSON.stringify(text)));

function payload(text: string | undefined, bytes: number) {
  if (text === undefined) return { text: null, details: null };
  const included = bytes <= PAYLOAD_LIMIT;
  return { text: included ? text : null, details: { included } };
}

/** The value of AWS for an execution that was never redriven. Nothing is redriven here. */
function redrive(status: ExecutionStatus): JsonObject {
  const over = status !== 'RUNNING' && status !== 'SUCCEEDED';
  return {
    redriveCount: 0,
    redriveDate: null,
    redriveStatus: over ? 'REDRIVABLE' : 'NOT_REDRIVABLE',
    redriveStatusReason: over ? null : `Execution is ${status} and cannot be redriven`,
  };
}
