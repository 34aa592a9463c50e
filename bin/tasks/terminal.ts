/** The outside of the command. Tests replace it. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  /** Ends a watch. */
  readonly signal?: AbortSignal;
}
