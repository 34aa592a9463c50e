import { act, Refused, read } from './api.js';
import { askReason } from './dialog.js';
import { listKeys, listView, queryOf } from './list.js';
import { html, render } from './lit-html.js';
import { payloadView } from './task/payload.js';
import { isOpen, storyOf, taskView } from './task/task.js';
import { linkOfRerun, words } from './text.js';

/** @typedef {import('../routes.ts').Answer<'server'>} ServerAnswer */
/** @typedef {import('../routes.ts').Answer<'task'>} TaskAnswer */
/** @typedef {import('../routes.ts').Answer<'logs'>} LogsAnswer */
/** @typedef {import('../../../functions/operator/payload.ts').Payload} Payload */

const place = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const [header, main, problem, said] = [place('header'), place('main'), place('problem'), place('said')];

/** @type {ServerAnswer | undefined} */
let server;
let live = true;
/** The hash of the last list, for the way back. */
let lastList = '#/';
/**
 * The state of the page for one task. In dev the payload and the log lines are the developer's own: they are shown at once.
 *
 * @typedef {{ answer?: TaskAnswer, shown: boolean, payload?: Payload, logs?: LogsAnswer, problem?: string, of?: string,
 *   forms: Map<string, HTMLElement> }} Shown
 * @param {string} [of] its id
 * @returns {Shown}
 */
const newTask = (of) => ({ ...(of !== undefined && { of }), shown: server?.local === true, forms: new Map() });
/** @type {Shown} */
let task = newTask();
let reading = new AbortController();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let hiding;

function route() {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?');
  const [, id] = /^\/task\/([^/]+)$/.exec(path) ?? [];
  return { id: id === undefined ? undefined : decodeURIComponent(id), query: new URLSearchParams(query) };
}

/** Shows the current state, and sets a timer for the next time. */
async function refresh() {
  clearTimeout(timer);
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  let open = true;
  try {
    server ??= await read('server', {}, signal);
    renderHeader();
    open = await (route().id === undefined ? showList(signal) : showTask(signal));
    problem.textContent = '';
  } catch (error) {
    if (signal.aborted) return;
    problem.textContent = error instanceof Error ? error.message : String(error);
    if (main.dataset.route !== location.hash)
      shown(html`<nav><a href="#/" data-back>← All tasks</a></nav><h1 tabindex="-1">Not shown</h1>`);
  }
  if (signal.aborted || !live || !open || document.hidden) return;
  timer = setTimeout(refresh, server?.pause ?? 1_000);
}

/** @param {AbortSignal} signal */
async function showList(signal) {
  const { query } = route();
  const answer = await read('tasks', queryOf(query), signal);
  lastList = location.hash || '#/';
  shown(
    listView(
      /** @type {import('../routes.ts').Answer<'tasks'>} */ (answer),
      query,
      /** @type {ServerAnswer} */ (server),
    ),
  );
  document.title = `Tasks – ${server?.name}`;
  return true;
}

/** @param {AbortSignal} signal */
async function showTask(signal) {
  const { id = '', query } = route();
  const answer = /** @type {TaskAnswer} */ (
    await read(
      'task',
      { id, owner: query.get('owner') ?? '', payload: task.payload === undefined ? '' : 'yes' },
      signal,
    )
  );
  const { taskId } = answer.story;
  if (task.of !== taskId) task = newTask(taskId);
  const [before, story] = [task.answer && storyOf(task.answer), storyOf(answer)];
  task.answer = answer;
  if (story !== undefined && before !== undefined && before.status !== story.status)
    say(`The task is ${words(story.status)} now`);
  if (story !== undefined && server?.local === true) task.logs = await read('logs', keyOf(answer), signal);
  // The questions of a round disappear with it, and an attempt may have thrown.
  if (task.shown && story !== undefined && (before === undefined || stampOf(before) !== stampOf(story))) {
    const first = task.payload === undefined;
    await readPayload();
    // With the right to payloads the explanation says more.
    if (first && task.payload !== undefined) return showTask(signal);
  }
  renderTask();
  document.title = `${story?.tool ?? 'Task'} ${words(story?.status ?? '')} – ${server?.name}`;
  // One more read after the end: the last lines of a log arrive late.
  return story === undefined || isOpen(story) || (before !== undefined && isOpen(before));
}

/** A stamp that changes if the payload may have changed. @param {import('../../../functions/operator/show.ts').Story} story */
function stampOf({ updatedAt, runs }) {
  const tries = runs.flatMap(({ failures, visits = [] }) => [...failures, ...visits.flatMap((visit) => visit.tries)]);
  return `${updatedAt} ${tries.filter(({ error }) => error !== undefined).length}`;
}

function renderTask() {
  const { answer, payload, logs, problem: refused, shown: asked } = task;
  if (answer === undefined) return;
  const { story } = answer;
  const local = server?.local === true;
  const data =
    'unreadable' in story
      ? null
      : payloadView({
          ...{
            asks: story.status === 'input_required',
            local,
            forms: task.forms,
            payload: asked ? payload : undefined,
            problem: refused,
          },
          ...{ onShow: showPayload, onHide: hidePayload },
          onAnswer: (key, given, reason) => perform('answer', { ...keyOf(answer), reason, answers: { [key]: given } }),
        });
  shown(
    taskView(answer, local, { onCancel: () => cancel(answer), onRerun: () => rerun(answer) }, { payload: data, logs }),
  );
}

async function showPayload() {
  task.shown = true;
  await readPayload();
  renderTask();
  // With the right to payloads the explanation says more.
  if (task.payload !== undefined) await refresh();
}

function hidePayload() {
  task.shown = false;
  delete task.payload;
  renderTask();
}

async function readPayload() {
  const { answer } = task;
  if (answer === undefined) return;
  delete task.problem;
  try {
    task.payload = await read('payload', keyOf(answer));
  } catch (error) {
    hidePayload();
    task.problem = /** @type {Error} */ (error).message;
  }
}

/** @param {TaskAnswer} answer @returns {{ id: string, owner: string }} */
function keyOf({ story }) {
  const { taskId, owner } = /** @type {{ taskId: string, owner?: string }} */ (
    'unreadable' in story ? story.stored : story
  );
  return { id: taskId, owner: owner ?? '' };
}

/** @param {TaskAnswer} answer */
async function cancel(answer) {
  const what = {
    title: 'Cancel this task?',
    text: 'It ends as cancelled, and its run is stopped. Its client sees that an operator did it, and not why.',
  };
  const reason = await askReason({ ...what, button: 'Cancel the task', optional: server?.local === true });
  if (reason !== undefined) await perform('cancel', { ...keyOf(answer), reason });
}

/** @param {TaskAnswer} answer */
async function rerun(answer) {
  const what = { title: 'Run it again?', text: 'A new task of the same owner begins with the same arguments.' };
  const reason = await askReason({ ...what, button: 'Run it again', optional: server?.local === true });
  if (reason === undefined) return;
  const outcome = await perform('rerun', { ...keyOf(answer), reason });
  if (outcome?.newTaskId !== undefined) location.hash = linkOfRerun(outcome.newTaskId, keyOf(answer).owner);
}

/** @param {string} verb @param {import('../routes.ts').ActRequest} request */
async function perform(verb, request) {
  try {
    const outcome = await act(verb, request);
    await refresh();
    // The message follows the announcement of the new status.
    say(outcome.message, !outcome.done);
    return outcome;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say(error.message, true);
    return undefined;
  }
}

/** How long a message stays visible, in milliseconds. An error stays until the next page. */
const IN_SIGHT = 10_000;

/** Shows the outcome of an act, also to screen readers. @param {string} text */
function say(text, bad = false) {
  clearTimeout(hiding);
  said.textContent = text;
  said.classList.remove('unseen');
  said.classList.toggle('bad', bad);
  if (!bad) hiding = setTimeout(() => said.classList.add('unseen'), IN_SIGHT);
}

/** @param {unknown} view */
function shown(view) {
  const focused = document.activeElement?.matches('a.open') ? document.activeElement.getAttribute('href') : undefined;
  render(view, main);
  // A new task moves the others down: the focus stays with its task.
  const links = /** @type {HTMLElement[]} */ (focused ? [...main.querySelectorAll('a.open')] : []);
  links.find((link) => link.getAttribute('href') === focused)?.focus({ preventScroll: true });
  const first = main.dataset.route === undefined;
  if (main.dataset.route === location.hash) return;
  main.dataset.route = location.hash;
  // Each new page gets the focus at its heading; for the first one the browser decides.
  if (
    !first &&
    !(document.activeElement instanceof HTMLSelectElement || document.activeElement instanceof HTMLInputElement)
  )
    main.querySelector('h1')?.focus();
}

function renderHeader() {
  if (server === undefined) return;
  const { name, region, local } = server;
  render(
    html`<p><a href="#/" class="name">${name}</a> <span class="where">${local ? 'dev, on this machine' : region}</span></p>
      <label class="check"><input type="checkbox" .checked=${live} @change=${toggleLive} /> Live</label>`,
    header,
  );
}

/** @param {Event} event */
function toggleLive({ currentTarget }) {
  live = /** @type {HTMLInputElement} */ (currentTarget).checked;
  void refresh();
}

/** @param {KeyboardEvent} event */
function keys(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog, pre')) return;
  if (route().id === undefined) listKeys(event);
  else if (event.key === 'Escape') location.hash = lastList;
}

addEventListener('hashchange', () => {
  said.classList.add('unseen');
  said.textContent = '';
  // A request to show the payload counts for one task only.
  task = newTask();
  void refresh();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void refresh();
});
document.addEventListener('keydown', keys);
document.addEventListener('click', (event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest('a[data-back]');
  if (link === null || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  location.hash = lastList;
});
void refresh();
