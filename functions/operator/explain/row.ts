import { failuresOf, type TaskFacts } from './facts.ts';

/** One thing that keeps a task open, or has ended it. The first row that fits a task explains it. */
export interface Row {
  readonly name: string;
  /** The row of docs/crash-table.md, or another page. */
  readonly row: string | ((facts: TaskFacts) => string);
  readonly fits: (facts: TaskFacts) => boolean;
  /** Plain sentences. */
  readonly why: (facts: TaskFacts) => readonly string[];
  /** What to do, as commands. `ID` stands for the id. */
  readonly next: (facts: TaskFacts) => readonly string[];
}

/** By lib/workflow/definition.ts. */
export const THROTTLED =
  /^Lambda\.(TooManyRequests|Resource(Conflict|NotReady)|CodeArtifact|SnapStart|S3Files|EC2|Ec2|ENI|Eni|Subnet|EFS|Efs)/;
export const CRASHED = /^Runtime\.|^Sandbox\.|^Lambda\.(Unknown|ServiceException|AWSLambda|SdkClient|ClientExecution)/;

/** Left out where a rerun would be refused. */
export const RERUN = 'mcp-task-server tasks rerun ID --reason TEXT';
export const LOGS = 'mcp-task-server tasks logs ID';
export const rerun = (): readonly string[] => [RERUN];

export const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** The name of the last error of this kind. */
export const lastOf = (facts: TaskFacts, named: RegExp): string | undefined => failuresOf(facts, named).at(-1)?.error;

/** By whom it was ended, if that was an operator: ` by ann: “INC-7”`. */
export function operatorOf({ record }: TaskFacts): string {
  const event = record.events.findLast(({ what }) => what === record.status);
  if (event?.by !== 'operator') return '';
  return ` by ${event.who ?? 'an operator'}${event.reason === undefined ? '' : `: “${event.reason}”`}`;
}
