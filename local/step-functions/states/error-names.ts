import type { Fields } from '../definition/fields.ts';
import { refuse } from '../place.ts';

// `States.` is reserved: a name outside this list is a typo.
const RESERVED = new Set(
  `ALL BranchFailed DataLimitExceeded ExceedToleratedFailureThreshold HeartbeatTimeout Http.Socket ItemReaderFailed
  NoChoiceMatched Permissions QueryEvaluationError ResultWriterFailed Runtime TaskFailed Timeout`
    .split(/\s+/)
    .map((name) => `States.${name}`),
);

/** An HTTP task fails with the status of its answer in the name (developer guide, "Call HTTPS APIs"). */
const HTTP_STATUS = /^States\.Http\.StatusCode\.\d{3}$/;

const NOT_IN_ALL = new Set(['States.Runtime', 'States.DataLimitExceeded']);
const NOT_IN_TASK_FAILED = new Set([...NOT_IN_ALL, 'States.Timeout', 'States.HeartbeatTimeout']);

/** Reads ErrorEquals of a retrier or catcher. */
export function loadErrorNames(fields: Fields, isLast: boolean): string[] {
  const names = fields.take('ErrorEquals');
  const place = fields.at('ErrorEquals');
  if (!Array.isArray(names) || names.length === 0) return refuse(place, 'must be a list of error names');
  for (const name of names) {
    if (typeof name !== 'string' || name === '') refuse(place, 'must be a list of error names');
    const known = RESERVED.has(name) || HTTP_STATUS.test(name);
    if (name.startsWith('States.') && !known) refuse(place, `'${name}' is not an error of Step Functions`);
    if (name === 'States.ALL' && (names.length > 1 || !isLast)) refuse(place, 'States.ALL must stand alone and last');
  }
  return names;
}

/** Whether one of the names matches the error. States.Runtime always ends the execution. */
export function matchesError(names: readonly string[], error: string): boolean {
  if (error === 'States.Runtime') return false;
  return names.some((name) => {
    if (name === 'States.ALL') return !NOT_IN_ALL.has(error);
    if (name === 'States.TaskFailed') return !NOT_IN_TASK_FAILED.has(error);
    return name === error;
  });
}
