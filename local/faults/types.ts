import type { JsonObject } from '../json.ts';

/** The services whose calls can have faults: all of the call log, and the three that make calls. */
export type FaultService =
  | 'dynamodb'
  | 's3'
  | 'states'
  | 'lambda'
  | 'secretsmanager'
  | 'events'
  | 'streams'
  | 'apigateway'
  | 'logs'
  | 'sqs'
  | 'sns'
  | 'cloudformation'
  | 'sts';

/**
 * - `before`: the call has not been executed.
 * - `after`: the call has been executed, and the caller does not have the answer. In API Gateway: the function has begun
 *   to answer, and the client has received nothing.
 * - `midway`, only in API Gateway and only for a streamed answer: the client has the first chunk.
 */
export type FaultPoint = 'before' | 'after' | 'midway';

/**
 * A call at one of its points:
 *
 * | service | operation | caller | worker |
 * |---|---|---|---|
 * | any in the call log | as in the log: `PutItem`, `Invoke` | function, or role of a state machine | the function's |
 * | lambda | `Run`: a worker starts with an event; `before` only | the function | the one that starts |
 * | states | `RunExpress`: an Express execution begins, after its start was answered; `before` only | the role of the machine | |
 * | events | `Deliver`: a rule sends an event to a function, or the end of an execution to `startExecution.sync` | the rule | |
 * | streams | `Deliver`: Lambda passes records of a stream to a function | the event source mapping | |
 * | sqs | `Deliver`: Lambda passes messages of a FIFO queue to a function | the event source mapping | |
 * | apigateway | `POST /mcp`: a client calls; the resource as the template writes it | `client` | the one that answers |
 */
export interface FaultCall {
  readonly service: FaultService;
  readonly operation: string;
  /** A logical id. */
  readonly caller: string;
  readonly at: FaultPoint;
  /** What `cloud.lambda.killWorker` takes. */
  readonly worker: string | undefined;
  /** The input as the call log keeps it; the event for `Run` and API Gateway. */
  readonly input: JsonObject;
}

export type Fault =
  /**
   * The connection breaks: `before` loses the request, `after` loses the answer. A state machine sees an
   * SdkClientException. `before` loses an event of AWS, and delays one of PutEvents. `after` delivers it, but EventBridge does not know that and retries.
   * Lambda retries records of a stream, and messages of a queue, in both cases. Of `RunExpress`: the execution is lost without a trace.
   */
  | 'drop'
  /** The worker of the call dies, and with it the connection. */
  | 'killWorker'
  /** The whole process dies as by `kill -9`. Only for a cloud that was started as `mortal`. */
  | 'killProcess'
  /** The event is delivered twice; the Express execution runs twice. */
  | 'double'
  /** Only of `RunExpress`: the execution runs once more, after this time. */
  | { readonly doubleAfterMs: number }
  /** The worker dies after this time; the call continues. Of `RunExpress`: the execution is lost after it. */
  | { readonly killAfterMs: number }
  /** Only of `RunExpress`: the execution is lost once this has come. */
  | { readonly loseAfter: Promise<unknown> }
  /** Only of API Gateway, `before`: Lambda keeps each chunk of a streamed answer until the next one, or the end. */
  | 'holdChunks'
  /** Only of API Gateway, `before`: a streamed answer without a body ends so late. */
  | { readonly emptyEndsAfterMs: number }
  /** The service answers with this error, in its own protocol. @default status 400 */
  | { readonly error: string; readonly status?: number; readonly message?: string }
  /** The call waits; further faults may strike after it. */
  | { readonly delayMs: number }
  /** The call waits for this; further faults may strike after it. */
  | { readonly run: (call: FaultCall) => unknown };

export interface FaultSpec {
  readonly service: FaultService;
  /** @default any */
  readonly operation?: string;
  /** A logical id, with or without the digest that CDK appends. @default any caller */
  readonly caller?: string;
  /** @default any call */
  readonly when?: (call: FaultCall) => boolean;
  /** @default 'before' */
  readonly at?: FaultPoint;
  readonly do: Fault;
  /** The most calls it strikes. @default 1 */
  readonly times?: number;
}

export interface FaultHandle {
  /** How many calls it struck. */
  readonly hits: number;
  /** The first call it struck. */
  readonly struck: Promise<FaultCall>;
  remove(): void;
}

/** Picks the fault, if any, for a call at one of its points. */
export type Choose = (call: FaultCall) => Fault | undefined;

/** The faults of a cloud, asked in the order in which they were added. Costs nothing while there are none. */
export interface Faults {
  /**
   * @example
   * // The put is executed, and its caller never gets the answer.
   * const lost = cloud.faults.add({ service: 'dynamodb', operation: 'PutItem', at: 'after', do: 'drop' });
   */
  add(spec: FaultSpec): FaultHandle;
  /** @example cloud.faults.use(randomFaults({ seed: 7, rate: 0.05 })); */
  use(choose: Choose): FaultHandle;
  /** Removes all. */
  clear(): void;
}

/** The facts of a call at each of its points. */
export type CallFacts = Omit<FaultCall, 'at' | 'input'> & { readonly input: () => unknown };

/** How the services of the cloud apply faults. */
export interface FaultBench {
  readonly faults: Faults;
  /** Runs a call with the faults before and after it. Throws an AwsError or ConnectionLost if one strikes. */
  withFaults<T>(call: CallFacts, run: () => Promise<T>): Promise<T>;
  /** Applies the faults of one point. Returns those that did not end the call; undefined if there are none. */
  strike(call: CallFacts, at: FaultPoint): Promise<readonly Fault[]> | undefined;
}
