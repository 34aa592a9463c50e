import { errorFacts } from '../tasks/error-facts.ts';
import { McpError } from '../tasks/errors.ts';

/** For operators only; a client is told nothing of it. */
export function logUnexpected(error: unknown, where: string): void {
  if (error instanceof McpError) return;
  console.error(JSON.stringify({ event: 'unexpected_error', where, ...errorFacts(error) }));
}
