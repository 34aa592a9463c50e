import type { SFNClient } from '@aws-sdk/client-sfn';
import type { VerifyClient } from './client.ts';

/** The parts of the stack in ./app.ts that the checks use. */
export interface VerifyContext {
  readonly client: VerifyClient;
  readonly sfn: SFNClient;
  /** The ARN of the workflow of `nap`. */
  readonly machine: string;
  /** The ARN of the state machine that is a tool. */
  readonly author: string;
  /** How long the long function works, in ms: 90,000 shows that nothing ends it at 60 s. */
  readonly nap: number;
  /** How long streams may take, in ms. */
  readonly within: {
    /** Until an answer of a few bytes has ended. */
    readonly end: number;
    /** From a poll that shows a question until the stream brings it. */
    readonly question: number;
    /** Until the stream of a client that has left no longer counts: `holdCap` of ./app.ts, and some time. */
    readonly left: number;
  };
}

export interface Check {
  readonly name: string;
  /** Returns what it saw. Throws if AWS does not behave as the server needs. */
  readonly run: (context: VerifyContext) => Promise<string>;
}

export function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
