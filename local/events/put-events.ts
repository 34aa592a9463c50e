import { AwsError } from '../aws-error.ts';
import { busNameOf } from '../bus-name.ts';
import { type JsonObject, listOf, numberOf, objectOf, parsedObject, stringOf } from '../json.ts';
import { customEvent, type Event } from './event.ts';

/** "Number of entries in a PutEvents request: maximum number of 10 items" (API reference of PutEvents). */
const MOST_ENTRIES = 10;
/** Bytes of all entries: "The total entry size must be less than 256KB" (API reference of PutEvents). Newer AWS may take more. */
const MOST_BYTES = 262_144;
const TIME_BYTES = 14;
/** "Free-form string, with a maximum of 128 characters" (API reference of PutEventsRequestEntry). */
const LONGEST_DETAIL_TYPE = 128;

export interface PutEventsOptions {
  /** From the name of each bus to its ARN. */
  readonly buses: ReadonlyMap<string, string>;
  readonly now: () => number;
  readonly accept: (bus: string, event: Event) => void;
  readonly onError: (message: string) => void;
}

/** The operation PutEvents: takes each entry that it can, and says which ones it could not. */
export function putEvents(input: JsonObject, options: PutEventsOptions): JsonObject {
  const entries = listOf(input.Entries).map(objectOf);
  checkRequest(input, entries);
  const Entries = entries.map((entry) => put(entry, options));
  return { FailedEntryCount: Entries.filter((result) => 'ErrorCode' in result).length, Entries };
}

function checkRequest(input: JsonObject, entries: readonly JsonObject[]): void {
  const refuse = (message: string): never => {
    throw new AwsError('ValidationException', message);
  };
  if (input.EndpointId !== undefined) refuse('the embedded cloud does not know EndpointId');
  const bound = `Member must have length ${entries.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${MOST_ENTRIES}`}`;
  if (entries.length === 0 || entries.length > MOST_ENTRIES) {
    refuse(`1 validation error detected: Value at 'entries' failed to satisfy constraint: ${bound}`);
  }
  const bytes = entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
  if (bytes > MOST_BYTES) refuse('Total size of the entries in the request is over the limit.');
}

function entryBytes({ Time, Source, DetailType, Detail, Resources }: JsonObject): number {
  const texts = [Source, DetailType, Detail, ...listOf(Resources)].map((text) => stringOf(text) ?? '');
  return (Time === undefined ? 0 : TIME_BYTES) + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function put(entry: JsonObject, { buses, now, accept, onError }: PutEventsOptions): JsonObject {
  const refusal = refusalOf(entry);
  if (refusal) return refusal;
  const bus = busNameOf(entry.EventBusName);
  const seconds = numberOf(entry.Time);
  const arn = buses.get(bus) ?? [...buses.values()][0] ?? '';
  const [, , , region = '', account = ''] = arn.split(':');
  const event = customEvent({
    source: String(entry.Source),
    detailType: String(entry.DetailType),
    account,
    region,
    resources: listOf(entry.Resources).map(String),
    at: seconds === undefined ? now() : seconds * 1000,
    detail: objectOf(JSON.parse(String(entry.Detail))),
  });
  // AWS drops it and answers as if it had not ("Sending events with PutEvents", "Handling failures").
  if (!buses.has(bus)) onError(`EventBridge dropped an event: there is no event bus ${bus}`);
  else accept(bus, event);
  return { EventId: event.id };
}

/** The error codes of PutEventsResultEntry. */
function refusalOf({ Source, DetailType, Detail }: JsonObject): JsonObject | undefined {
  for (const [name, value] of Object.entries({ Source, DetailType, Detail })) {
    if (stringOf(value) === undefined || value === '') {
      return invalid(`Parameter ${name} is not valid. Reason: ${name} is a required argument.`);
    }
  }
  if (String(DetailType).length > LONGEST_DETAIL_TYPE) {
    return invalid(`Parameter DetailType is not valid. Reason: it has more than ${LONGEST_DETAIL_TYPE} characters.`);
  }
  if (String(Source).startsWith('aws.')) {
    return { ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage: 'Not authorized for the source.' };
  }
  return parsedObject(Detail) ? undefined : { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
}

const invalid = (ErrorMessage: string): JsonObject => ({ ErrorCode: 'InvalidArgument', ErrorMessage });
