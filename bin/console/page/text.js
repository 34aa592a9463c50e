/** Formats times and amounts. */

/** `350 ms`, `1.2 s`, `3 m 20 s`. @param {number} ms */
export function span(ms) {
  const whole = Math.abs(ms);
  if (whole < 1_000) return `${Math.round(whole)} ms`;
  if (whole < 10_000) return `${Number((whole / 1_000).toFixed(1))} s`;
  const seconds = Math.round(whole / 1_000);
  const units = [
    { name: 'd', count: Math.floor(seconds / 86_400) },
    { name: 'h', count: Math.floor(seconds / 3_600) % 24 },
    { name: 'm', count: Math.floor(seconds / 60) % 60 },
    { name: 's', count: seconds % 60 },
  ];
  const first = units.findIndex(({ count }) => count > 0);
  const shown = units.slice(first, first + 2).filter(({ count }) => count > 0);
  return shown.map(({ name, count }) => `${count} ${name}`).join(' ');
}

/** A duration in whole seconds: fractions would flicker. @param {number} ms */
export const age = (ms) => (ms < 1_000 ? 'now' : span(Math.round(ms / 1_000) * 1_000));

/** `2026-11-22 13:00:05Z`: UTC, as in logs. @param {number} at */
export const moment = (at) =>
  new Date(at)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z/, 'Z');

/** A time with milliseconds, without its date. @param {number} at */
export const clock = (at) => new Date(at).toISOString().slice(11, 23);

/** The end of an id, as long as the verbs need it: the beginning is the time, which many ids share. @param {string} id */
export const shortId = (id) => `…${id.slice(-10)}`;

/** `2 of 7`; undefined if the tool reported no amount. @param {{ done?: number, of?: number }} progress */
export const amount = ({ done, of }) =>
  done === undefined ? undefined : `${done}${of === undefined ? '' : ` of ${of}`}`;

/** @param {string} status */
export const words = (status) => status.replaceAll('_', ' ');

/**
 * The link of a task that another one runs again. Both have the same owner, unless each task is its own owner.
 *
 * @param {string} taskId @param {string} owner the owner of the other task
 */
export const linkOfRerun = (taskId, owner) =>
  owner.startsWith('task#') ? `#/task/${taskId}` : `#/task/${taskId}?${new URLSearchParams({ owner })}`;
