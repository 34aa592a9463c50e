/** One call of a Task state: its Resource, its evaluated Arguments, and its caller. */
export interface IntegrationCall {
  resource: string;
  arguments: unknown;
  executionArn: string;
  stateMachineArn: string;
  roleArn: string;
  /** Identifies this attempt of this task; the same for a lost call. */
  id: string;
  /**
   * The call began before the process died, and its outcome is unknown. The integration decides what that means: it
   * fails as if its service had died, finds what the call started, makes the call again, or returns AGAIN.
   */
  lost: boolean;
  /** Records that the call begins, for an integration that `waits`: see `Attempt.begins`. */
  begins(): Promise<void> | undefined;
  /** Aborts on task timeout, StopExecution, execution timeout and engine stop. A later result is ignored. */
  signal: AbortSignal;
}

/** The code behind a Resource. A StatesError keeps its name; anything else thrown becomes States.TaskFailed. */
export interface Integration {
  (call: IntegrationCall): Promise<unknown>;
  /**
   * Whether a call may wait before it has any effect. It calls `begins` when the effect starts. Until then it is not lost
   * with the process: it is made again like a new call. @default it begins when it is made
   */
  readonly waits?: true;
}

export interface StateMachineSpec {
  arn: string;
  name: string;
  roleArn: string;
  /** Amazon States Language as JSON, after substitutions. */
  definition: string;
  /** @default a Standard one */
  type?: 'EXPRESS';
}

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
export type ClosedStatus = Exclude<ExecutionStatus, 'RUNNING'>;

/** The facts of an EventBridge "Step Functions Execution Status Change". Dates are epoch milliseconds, as in the event. */
export interface StatusChange {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: ExecutionStatus;
  input: string;
  output?: string | undefined;
  error?: string | undefined;
  cause?: string | undefined;
  startDate: number;
  stopDate?: number | undefined;
}

/**
 * How Step Functions treats one start on Express. It promises to run it at least once, and may lose what it has done.
 * `againAfterMs`: it also runs from its beginning after this time, whether or not the first run has ended.
 */
export type ExpressFate =
  | 'once'
  | 'twice'
  | 'lost'
  | { readonly lostAfter: Promise<unknown> }
  | { readonly againAfterMs: number };

export interface ExpressStart {
  stateMachineArn: string;
  roleArn: string;
  name: string;
}

export interface StepFunctionsOptions {
  /** By exact Resource string, e.g. `arn:aws:states:::lambda:invoke`; any other Resource is refused at load. */
  integrations: Record<string, Integration>;
  /** Epoch milliseconds. @default Date.now */
  now?: () => number;
  /** Divides waits, retry delays and timeouts. @default 1 */
  timeScale?: number;
  /** The most closed executions that keep their input, output and history. @default 20,000 */
  keepClosed?: number;
  /** The file from which executions continue in the next process. @default none: they end with this process */
  journal?: string;
  /** Gets notices about the journal for the user, such as a broken last line that was cut. @default dropped */
  onNotice?: (message: string) => void;
  /** Decides how a started Express execution runs; undefined runs it once, at once. @default undefined */
  expressFate?: (start: ExpressStart) => Promise<ExpressFate> | undefined;
  onStatusChange?: (change: StatusChange) => void;
}

export interface ExecutionSnapshot {
  arn: string;
  stateMachineArn: string;
  name: string;
  status: ExecutionStatus;
  /** Names of the states entered, in order. */
  states: readonly string[];
  /** What AWS charges for: states entered plus retries. */
  transitions: number;
}

/** One AWS JSON 1.0 operation: takes the parsed request, returns the response object, throws an AwsError. */
export type Operation = (input: Record<string, unknown>) => Promise<unknown>;

export interface StepFunctions {
  /** The operations of the AWS API, by name. */
  operations: Record<string, Operation>;
  executions(): ExecutionSnapshot[];
  /** Resolves once the execution has closed; at once for an unknown one. */
  closed(executionArn: string): Promise<void>;
  /** Ends executions like a power cut: no status changes. With a journal, they continue at the next start. */
  stop(): Promise<void>;
}
