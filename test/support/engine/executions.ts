import type { SFNClient } from '@aws-sdk/client-sfn';
import { fakeClient } from '../aws-client.ts';
import type { Carry } from './client.ts';

/** An execution. Times in ms since the epoch. */
export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly input: string;
  readonly startDate: number;
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  error?: string | undefined;
  output?: string | undefined;
  stopDate?: number;
}

/** What else there is besides names: an interpreter, a judge. */
export interface ExecutionEvents {
  /** Throws, where there is no such machine. */
  readonly starting?: (machineArn: string) => void;
  readonly started?: (execution: Execution, machineArn: string) => void;
  readonly stopping?: (execution: Execution) => void;
  readonly ended?: (execution: Execution) => void;
  /** False: the seeded bug of a name that does not stand for an execution. @default true */
  readonly namesAreUnique?: boolean;
}

/** What the ARN of each machine here begins with. */
export const MACHINES = 'arn:aws:states:eu-west-1:111111111111:stateMachine:S-';

/** The workflow on Express: each of its starts is one more run, which has no name of its own. */
export const EXPRESS = `${MACHINES}express`;

/** How far DescribeExecution and StopExecution may be behind StartExecution, in ms. */
const BEHIND = 5_000;

/** The executions of Step Functions, by their ARNs, with its rules for names. Nothing runs: a test says how each one ends. */
export class Executions {
  readonly #all = new Map<string, Execution>();
  readonly #now: () => number;
  readonly #on: ExecutionEvents;

  constructor(now: () => number, on: ExecutionEvents = {}) {
    this.#now = now;
    this.#on = on;
  }

  get(arn: string): Execution | undefined {
    return this.#all.get(arn);
  }

  all(): Execution[] {
    return [...this.#all.values()];
  }

  /** Puts one there, as if it had been started before. */
  put(arn: string, more: Partial<Execution> = {}): void {
    const execution = { arn, name: nameOf(arn), input: '{}', startDate: this.#now(), status: 'RUNNING' as const };
    this.#all.set(arn, { ...execution, ...more });
  }

  /** Ends one that runs. */
  close(execution: Execution, status: Execution['status'], error?: string): void {
    if (execution.status !== 'RUNNING') return;
    Object.assign(execution, { status, error, stopDate: this.#now() });
    this.#on.ended?.(execution);
  }

  /** A client of the SDK. */
  client(carry: Carry = async (_what, carryOut) => carryOut(false)): Pick<SFNClient, 'send'> {
    return fakeClient((operation, input) => this.#send(operation, input as Input, carry));
  }

  #send(operation: string, sent: Input, carry: Carry): Promise<object> {
    const { executionArn = '', stateMachineArn = '', name = '', input = '{}' } = sent;
    switch (operation) {
      case 'StartExecution':
        return carry(`start ${roundIn(name)}`, () => {
          const { arn, startDate } = this.#start(stateMachineArn, name, input);
          return { executionArn: arn, startDate: new Date(startDate) };
        });
      case 'StopExecution':
        return carry(`stop ${nameOf(executionArn)}`, (stale) => {
          const execution = this.#find(executionArn, stale);
          if (execution.status === 'RUNNING') this.#on.stopping?.(execution);
          this.close(execution, 'ABORTED');
          return {};
        });
      case 'DescribeExecution':
        return carry(`describe ${nameOf(executionArn)}`, (stale) => {
          const { status, error, output, startDate, stopDate, ...rest } = this.#find(executionArn, stale);
          const started = { ...rest, startDate: new Date(startDate) };
          if (stale && this.#now() - (stopDate ?? 0) < BEHIND) return { ...started, status: 'RUNNING' };
          const stopped = stopDate !== undefined && { stopDate: new Date(stopDate) };
          return { ...started, status, error, output, ...stopped };
        });
      default:
        throw new Error(`Step Functions in memory knows no ${operation}`);
    }
  }

  #start(machineArn: string, name: string, input: string): Execution {
    this.#on.starting?.(machineArn);
    const express = machineArn === EXPRESS;
    const arn = express
      ? `${machineArn.replace(':stateMachine:', ':express:')}:${name}:${this.#all.size}`
      : `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`;
    const twin = this.#all.get(arn);
    if (twin !== undefined && this.#on.namesAreUnique !== false) {
      if (twin.status === 'RUNNING' && twin.input === input) return twin;
      throw refusal('ExecutionAlreadyExists');
    }
    const execution: Execution = { arn, name, input, startDate: this.#now(), status: 'RUNNING' };
    this.#all.set(twin === undefined ? arn : `${arn}#${this.#all.size}`, execution);
    this.#on.started?.(execution, machineArn);
    return execution;
  }

  #find(arn: string, stale: boolean): Execution {
    const execution = this.#all.get(arn);
    if (execution === undefined || (stale && this.#now() - execution.startDate < BEHIND)) {
      throw refusal('ExecutionDoesNotExist');
    }
    return execution;
  }
}

type Input = Readonly<Record<string, string>>;

/** Of the first attempt. */
export const refusal = (name: string): Error => Object.assign(new Error(name), { name, $metadata: {} });

/** `<taskId>-r<round>` as `r<round> of <taskId>`. */
const roundIn = (name: string): string => name.replace(/^(.*)-(r\d+)$/, '$2 of $1');
const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1);
