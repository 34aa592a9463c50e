import { type EventFacts, positionText } from '../tasks/table/events/log.ts';

/**
 * The event as a client gets it.
 *
 * @param summary if the tool has one
 * @param position of its entry in the log. A poll has one cursor for all its events
 */
export function occurrenceOf(facts: EventFacts, summary: string | undefined, position?: number) {
  const { eventId, name, at, taskId, tool, createdAt, status, isError, reason, answerBy } = facts;
  const said = summary !== undefined && { summary };
  const data =
    name === 'task.finished'
      ? {
          taskId,
          tool,
          status,
          ...(isError !== undefined && { isError }),
          ...(reason !== undefined && { reason }),
          createdAt: dateTime(createdAt),
          finishedAt: dateTime(at),
          ...said,
          next: `Read the result by the method tasks/get, or by the tool get_task_result, with taskId ${taskId}`,
        }
      : {
          taskId,
          tool,
          askedAt: dateTime(at),
          ...(answerBy !== undefined && { answerBy: dateTime(answerBy) }),
          ...said,
          next: `Read the questions by the method tasks/get, and answer by tasks/update, with taskId ${taskId}`,
        };
  const cursor = position === undefined ? {} : { cursor: positionText(position) };
  return { eventId, name, timestamp: dateTime(at), data, ...cursor };
}

const dateTime = (at: number): string => new Date(at).toISOString();
