import type { OperatorContext } from '../../functions/operator/context.ts';

/** Errors that mean the endpoint is not there, or no longer. */
const GONE = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'TimeoutError'];

export const isGone = (error: unknown): boolean => {
  const { name, code } = error as { readonly name?: string; readonly code?: string };
  return GONE.includes(code ?? '') || GONE.includes(name ?? '');
};

/**
 * Keeps one connection for all requests of a page. Makes a new one after `drop`, and after `maxAge` ms, as a deployment may
 * have changed the tools.
 */
export function keptConnection(connect: () => Promise<OperatorContext>, maxAge: number) {
  let kept: { readonly until: number; readonly context: Promise<OperatorContext> } | undefined;
  return {
    get(): Promise<OperatorContext> {
      if (kept === undefined || Date.now() > kept.until) {
        const context = connect();
        const made = { until: Date.now() + maxAge, context };
        kept = made;
        context.catch(() => {
          if (kept === made) kept = undefined;
        });
      }
      return kept.context;
    },
    drop(): void {
      kept = undefined;
    },
  };
}
