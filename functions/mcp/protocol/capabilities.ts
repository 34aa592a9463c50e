import { isObject } from '../../tasks/shape.ts';
import { TASKS_EXTENSION } from './versions.ts';

/** What a 2026-07-28 client declares to get tasks (E-02). */
export const TASKS_CAPABILITY = { extensions: { [TASKS_EXTENSION]: {} } };

/** What a client must declare to be asked a question of this kind (D-10, D-22). */
export function capabilityFor(kind: string): Record<string, object> {
  if (kind === 'elicitation/create:url') return { elicitation: { url: {} } };
  return { [kind.split('/')[0] ?? kind]: {} };
}

/** What a client can be asked (E-32), as `kindOf` names it. `elicitation: {}` means forms only (B-18, D-22). */
export function acceptedKinds(capabilities: unknown): string[] {
  if (!isObject(capabilities)) return [];
  const { elicitation, sampling, roots } = capabilities;
  const kinds: string[] = [];
  if (isObject(elicitation)) {
    if (isObject(elicitation.form) || !isObject(elicitation.url)) kinds.push('elicitation/create');
    if (isObject(elicitation.url)) kinds.push('elicitation/create:url');
  }
  if (isObject(sampling)) kinds.push('sampling/createMessage');
  if (isObject(roots)) kinds.push('roots/list');
  return kinds;
}
