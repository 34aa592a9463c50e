import type { Act } from '../../functions/operator/context.ts';
import { printableJson } from './text.ts';

/** The surroundings of the command. Tests replace them. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly folder: string;
  readonly signal?: AbortSignal;
}

/** Prints one line for each act to stderr. @param more facts that are the same for all acts */
export const auditTo =
  ({ err }: Pick<Terminal, 'err'>, more: object = {}) =>
  (act: Act): void =>
    err(`${printableJson(JSON.stringify({ event: 'audit', action: `operator_${act.act}`, ...act, ...more }))}\n`);
