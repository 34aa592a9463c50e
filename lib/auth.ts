/** How callers are told apart. There is no default: an open endpoint must be asked for by name. */
export type Auth = AnonymousAuth;

export interface AnonymousAuth {
  readonly kind: 'anonymous';
}

/**
 * Anyone who reaches the endpoint may call every tool. A task can be read, answered and cancelled by whoever holds
 * its id (more than 128 random bits); 2025-11-25 sessions see their own tasks in `tasks/list` (C-36).
 */
export function anonymous(): AnonymousAuth {
  return { kind: 'anonymous' };
}
