import { limits } from '../../tasks/limits.ts';

const { tasks } = limits.sessionStream;
const HALF = tasks / 2;

/**
 * The tasks that one read of a session's stream reads. First those that it has not asked: a client that does not resume may have
 * answered the others long ago. Full notes ask nothing until a question is closed: then half of the reads are of tasks that are noted,
 * of others each second.
 *
 * @param waiting tasks that wait for this stream to ask
 * @param noted tasks that it has asked
 * @param now in ms since the epoch
 */
export function tasksToRead(
  waiting: readonly string[],
  noted: readonly string[],
  isFull: boolean,
  now: number,
): string[] {
  const asked = [...new Set(noted)];
  const from = isFull ? (Math.floor(now / 1_000) * HALF) % asked.length : 0;
  const first = waiting.slice(0, isFull ? HALF : tasks);
  return [...new Set([...first, ...asked.slice(from), ...asked, ...waiting])].slice(0, tasks);
}
