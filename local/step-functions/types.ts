/** One call a Task state makes: its Resource, evaluated Arguments, and who asks. */
export interface IntegrationCall {
  resource: string;
  arguments: unknown;
  executionArn: string;
  stateMachineArn: string;
  roleArn: string;
  /** Names this attempt of this task; a lost call has it, too. */
  id: string;
  /**
   * The call began before the process died, and what came of it is not known. The integration says what that means:
   * it fails as it would when its service died, finds what the call began, makes it again, or answers AGAIN.
   */
  lost: boolean;
  /** For an integration that `waits`. Throws when it cannot be noted. */
  begins(): void;
  /** Aborts on task timeout, StopExecution, execution timeout and engine stop; a later result is ignored. */
  signal: AbortSignal;
}

/** What stands behind a Resource. Throws a StatesError for a named error; anything else becomes States.TaskFailed. */
export interface Integration {
  (call: IntegrationCall): Promise<unknown>;
  /**
   * A call may lie there for long before anything comes of it, and says itself when that begins, by `begins`. Until then
   * it is not lost with the process: it is made again like a new one. @default it begins when it is made
   */
  readonly waits?: true;
}

export interface StateMachineSpec {
  arn: string;
  name: string;
  roleArn: string;
  /** Amazon States Language as JSON, substitutions already made. */
  definition: string;
}

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
export type ClosedStatus = Exclude<ExecutionStatus, 'RUNNING'>;

/** The facts of an EventBridge "Step Functions Execution Status Change": dates in epoch milliseconds, as there. */
export interface StatusChange {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: ExecutionStatus;
  input: string;
  output?: string;
  error?: string;
  cause?: string;
  startDate: number;
  stopDate?: number;
}

export interface StepFunctionsOptions {
  /** By exact Resource string, e.g. `arn:aws:states:::lambda:invoke`; any other Resource is refused at load. */
  integrations: Record<string, Integration>;
  /** Epoch milliseconds. @default Date.now */
  now?: () => number;
  /** Divides waits, retry delays and timeouts. @default 1 */
  timeScale?: number;
  /** How many closed executions keep their input, output and history. @default 20,000 */
  keepClosed?: number;
  /** The file in which executions outlive this process; those that ran go on at once. @default none, they end with it */
  journal?: string;
  /** Takes what a user should know of the journal: a broken last line that is left out. @default dropped */
  onNotice?: (message: string) => void;
  onStatusChange?: (change: StatusChange) => void;
}

export interface ExecutionSnapshot {
  arn: string;
  stateMachineArn: string;
  name: string;
  status: ExecutionStatus;
  /** Names of the states entered, in order. */
  states: readonly string[];
  /** What AWS would charge: states entered plus retries. */
  transitions: number;
}

/** One AWS JSON 1.0 operation: parsed request in, response object out, AwsError thrown. */
export type Operation = (input: Record<string, unknown>) => Promise<unknown>;

export interface StepFunctions {
  /** StartExecution, DescribeExecution, StopExecution, ListExecutions, GetExecutionHistory, DescribeStateMachine. */
  operations: Record<string, Operation>;
  executions(): ExecutionSnapshot[];
  /** Resolves once the execution has closed; at once for one that is unknown. */
  closed(executionArn: string): Promise<void>;
  /**
   * Ends everything that runs, without status changes: the power switch, not StopExecution. With a journal it all goes
   * on at the next start.
   */
  stop(): Promise<void>;
}
