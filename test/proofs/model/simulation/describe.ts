import { SORT_KEYS } from '../../../../functions/tasks/attributes.ts';
import type { Written } from '../../../support/engine/table.ts';
import { fromItem } from '../../../support/engine/values.ts';

/** No record: what lies beside the tasks of an owner, or what a run reports. */
export const isBeside = (item: Written['after']): boolean =>
  String(item.taskId?.S).startsWith('#') || String(item.owner?.S).startsWith('progress#');

/** A record in a line of the trace. @param began when the run began, in ms since the epoch */
export function describe(item: Written['after'], began: number): string {
  const of = (name: string) => Object.values(item[name] ?? {})[0];
  if (String(item.taskId?.S).startsWith(SORT_KEYS.slots)) {
    return `${(of('taken') as string[] | undefined)?.length ?? 0} slots taken`;
  }
  if (String(item.taskId?.S).startsWith('#')) return JSON.stringify(fromItem(item));
  if (isBeside(item)) return `round ${of('round')} reports ${of('statusMessage')}`;
  const due = of('dueAt') === undefined ? '' : ` due ${(Number(of('dueAt')) - began) / 1_000}`;
  const answers = Object.keys((of('inputResponses') as object | undefined) ?? {}).join(' ');
  return `${of('status')} round ${of('round')}${due} ${answers} ${of('statusMessage') ?? ''} ${of('result') ?? ''}`;
}
