import { html } from './lit-html.js';
import { badge, broken, progressView } from './parts.js';
import { age, shortId, span, words } from './text.js';

/** @typedef {import('../routes.ts').Answer<'tasks'>} ListAnswer */
/** @typedef {import('../routes.ts').Answer<'server'>} ServerAnswer */
/** @typedef {import('../routes.ts').TaskRow} TaskRow */

const STATUSES = ['all', 'open', 'ended', 'working', 'waiting', 'input_required', 'completed', 'failed', 'cancelled'];
/** Filters by age, as options of `mcp-task-server tasks list`, with their texts. */
const AGES = [
  ['', 'any age'],
  ['newer-than=10m', 'newer than 10 minutes'],
  ['newer-than=1h', 'newer than 1 hour'],
  ['newer-than=1d', 'newer than 1 day'],
  ['older-than=10m', 'older than 10 minutes'],
  ['older-than=1h', 'older than 1 hour'],
  ['older-than=1d', 'older than 1 day'],
];

/** The query of the list route for the filters in the hash. @param {URLSearchParams} filters @returns {Record<string, string>} */
export function queryOf(filters) {
  const { age: chosen = '', ...rest } = Object.fromEntries(filters);
  const [name = '', value = ''] = chosen.split('=');
  return { status: 'all', ...rest, ...(name !== '' && { [name]: value }) };
}

/** @param {TaskRow} row */
const linkOf = ({ taskId, owner }) => `#/task/${taskId}?${new URLSearchParams({ owner })}`;

/** @param {ListAnswer} answer @param {URLSearchParams} filters @param {ServerAnswer} server */
export function listView({ tasks, now, cursor }, filters, server) {
  const older = new URLSearchParams([...filters].filter(([name]) => name !== 'cursor'));
  const first = `#/?${older}`;
  if (cursor !== undefined) older.set('cursor', cursor);
  return html`
    <h1 tabindex="-1">Tasks</h1>
    ${filterForm(filters, server)}
    ${tasks.length === 0 ? emptyNote(filters, server) : table(tasks, now)}
    <nav class="pages" aria-label="Pages">
      ${filters.has('cursor') ? html`<a href=${first}>← Newest</a>` : null}
      ${cursor === undefined ? null : html`<a href="#/?${older}">Older →</a>`}
    </nav>`;
}

/** @param {URLSearchParams} filters @param {ServerAnswer} server */
function filterForm(filters, { tools }) {
  const tool = filters.get('tool') ?? '';
  // A tool that was removed may still have tasks.
  const names = tool === '' || tools.includes(tool) ? tools : [tool, ...tools];
  return html`<form class="filters" role="search" @submit=${choose} @change=${choose}>
    ${select(
      'Status',
      'status',
      STATUSES.map((status) => [status, words(status)]),
      filters.get('status') ?? 'all',
    )}
    ${select('Tool', 'tool', [['', 'any tool'], ...names.map((name) => [name, name])], tool)}
    ${select('Age', 'age', AGES, filters.get('age') ?? '')}
    <label>Owner <input name="owner" autocomplete="off" placeholder="any owner" .value=${filters.get('owner') ?? ''} /></label>
    <label>Id, or its end <input name="id" autocomplete="off" placeholder="opens one task" /></label>
    <button class="unseen">Filter</button>
  </form>`;
}

/** @param {string} label @param {string} name @param {readonly (readonly string[])[]} options @param {string} chosen */
const select = (label, name, options, chosen) => html`<label>${label}
  <select name=${name}>
    ${options.map(([value = '', text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}
  </select></label>`;

/** @param {Event} event */
function choose(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.currentTarget);
  const given = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
  const { id = '', ...filters } = Object.fromEntries(given.filter(([, value]) => value !== ''));
  const search = /** @type {HTMLInputElement} */ (form.querySelector('input[name=id]'));
  search.value = '';
  if (filters.status === 'all') delete filters.status;
  location.hash = id === '' ? `#/?${new URLSearchParams(filters)}` : `#/task/${encodeURIComponent(id)}`;
}

const HEAD = ['Task', 'Status', 'Age', 'Ends in', 'Progress, or note'];

/** @param {readonly TaskRow[]} tasks @param {number} now */
const table = (tasks, now) => html`<table class="tasks" role="table" aria-label="Tasks">
  <thead role="rowgroup"><tr role="row">${HEAD.map((name) => html`<th role="columnheader">${name}</th>`)}</tr></thead>
  <tbody role="rowgroup">${tasks.map((task) => row(task, now))}</tbody>
</table>`;

/** @param {TaskRow} task @param {number} now */
function row(task, now) {
  const { taskId, tool, createdAt, endsBy, progress, note } = task;
  const left =
    endsBy === undefined
      ? ''
      : endsBy < now
        ? `${span(now - endsBy)} ago`
        : html`<small class="narrow">ends in </small>${age(endsBy - now)}`;
  const said = progress === undefined ? note : progressView(progress);
  return html`<tr role="row" @click=${follow}>
    <td role="cell" class="task"><a class="open" href=${linkOf(task)}>${broken(tool)} <span class="id">${shortId(taskId)}</span></a></td>
    <td role="cell" class="status">${badge(task)}</td>
    <td role="cell" class="number age">${age(now - createdAt)}</td>
    <td role="cell" class="number ends ${left === '' ? 'none' : ''}">${left}</td>
    <td role="cell" class="note ${said === '' ? 'none' : ''}">${said}</td>
  </tr>`;
}

/** The whole row leads to its task; text that was marked with the mouse stays marked. @param {MouseEvent} event */
function follow({ target, currentTarget }) {
  const link = /** @type {HTMLElement} */ (currentTarget).querySelector('a');
  if (/** @type {HTMLElement} */ (target).closest('a') === null && getSelection()?.isCollapsed !== false) link?.click();
}

/** @param {URLSearchParams} filters @param {ServerAnswer} server */
function emptyNote(filters, { local }) {
  if (filters.size > 0) return html`<p class="empty">No task fits these filters. <a href="#/">Show all tasks</a></p>`;
  return html`<p class="empty">No task yet. ${local ? 'Call a tool as a task, and it is here within a second.' : 'A task is here from its creation until its ttl is over.'}</p>`;
}

/** Moves between the tasks of the list. @param {KeyboardEvent} event */
export function listKeys(event) {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step === undefined) return;
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('table.tasks a.open')]);
  const at = links.findIndex((link) => link.matches(':focus'));
  const next = at === -1 ? links[step === 1 ? 0 : links.length - 1] : links[at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
