import type { JsonObject } from '../json.ts';

/** The services a call can be made to: those of the call log, and the two that bring calls in. */
export type FaultService = 'dynamodb' | 's3' | 'states' | 'lambda' | 'secretsmanager' | 'events' | 'apigateway';

/**
 * - `before`: the call has not been carried out.
 * - `after`: it has been, and nobody has heard of it. At the front door: the function has begun to answer, and the
 *   client has heard nothing.
 * - `midway`, only at the front door and only of a streamed answer: the client has its first piece.
 */
export type FaultPoint = 'before' | 'after' | 'midway';

/**
 * A call at one of the points it passes:
 *
 * | service | operation | caller | worker |
 * |---|---|---|---|
 * | any of the call log | as there: `PutItem`, `Invoke` | function, or role of a state machine | that of the function |
 * | lambda | `Run`: a worker begins with an event; `before` only | the function | the one that begins |
 * | events | `Deliver`: a rule sends an event to a function, or the end of an execution to `startExecution.sync` | the rule | |
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
  /** What the call log would keep of it; the event, of `Run` and of the front door. */
  readonly input: JsonObject;
}

export type Fault =
  /**
   * The connection breaks: the request is lost before it is carried out, the answer after. A state machine sees its
   * SdkClientException. An event is lost for good, or after its delivery not known to be delivered: delivered again.
   */
  | 'drop'
  /** The worker of the call dies, and with it the connection. */
  | 'killWorker'
  /** The cloud dies as by `kill -9`, with all of its process: only one that was started as `mortal`. */
  | 'killProcess'
  /** The event is delivered twice. */
  | 'double'
  /** The worker dies so much later; the call goes on. */
  | { readonly killAfterMs: number }
  /** The service answers with this error, in the form of its protocol. @default status 400 */
  | { readonly error: string; readonly status?: number; readonly message?: string }
  /** The call waits; further faults may strike after it. */
  | { readonly delayMs: number }
  /** The call waits for this; further faults may strike after it. */
  | { readonly run: (call: FaultCall) => unknown };

export interface FaultSpec {
  readonly service: FaultService;
  /** @default any */
  readonly operation?: string;
  /** A logical id, with or without the digest that CDK puts at the end. @default anybody */
  readonly caller?: string;
  /** @default any call */
  readonly when?: (call: FaultCall) => boolean;
  /** @default 'before' */
  readonly at?: FaultPoint;
  readonly do: Fault;
  /** How often it strikes at most. @default 1 */
  readonly times?: number;
}

export interface FaultHandle {
  /** How often it struck. */
  readonly hits: number;
  /** The first call it struck. */
  readonly struck: Promise<FaultCall>;
  remove(): void;
}

/** Says of each call, at each of its points, which fault strikes it. */
export type Choose = (call: FaultCall) => Fault | undefined;

/** The faults of a cloud. What is set last is asked last. Costs nothing while nothing is set. */
export interface Faults {
  /**
   * @example
   * // The put is carried out, and its caller never hears of it.
   * const lost = cloud.faults.add({ service: 'dynamodb', operation: 'PutItem', at: 'after', do: 'drop' });
   */
  add(spec: FaultSpec): FaultHandle;
  /** @example cloud.faults.use(randomFaults({ seed: 7, rate: 0.05 })); */
  use(choose: Choose): FaultHandle;
  /** Removes all. */
  clear(): void;
}

/** What a call tells of itself at its points. */
export type CallFacts = Omit<FaultCall, 'at' | 'input'> & { readonly input: () => unknown };

/** What the cloud itself does with faults. */
export interface FaultBench {
  readonly faults: Faults;
  /** Carries a call out, with the faults before and after it. Throws an AwsError or ConnectionLost where one strikes. */
  around<T>(call: CallFacts, run: () => Promise<T>): Promise<T>;
  /** Lets the faults of one point strike: answers those that did not end the call, or nothing if there were none. */
  strike(call: CallFacts, at: FaultPoint): Promise<readonly Fault[]> | undefined;
}
