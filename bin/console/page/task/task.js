import { html } from '../lit-html.js';
import { badge, broken, progressView, table } from '../parts.js';
import { amount, clock, linkOfRerun, moment, shortId, span } from '../text.js';
import { logsView } from './logs.js';
import { waterfall } from './waterfall.js';

/** @typedef {import('../../routes.ts').Answer<'task'>} TaskAnswer */
/** @typedef {import('../../../../functions/operator/show.ts').Story} Story */
/** @typedef {import('../../../../functions/operator/explain/index.ts').Explanation} Explanation */
/** @typedef {{ onCancel: () => void, onRerun: () => void }} Acts */

const OPEN = ['working', 'waiting', 'input_required'];

/** The story, if this release of the server understands the task. @param {TaskAnswer} answer @returns {Story | undefined} */
export const storyOf = ({ story }) => ('unreadable' in story ? undefined : story);

/** @param {Story} story */
export const isOpen = ({ status }) => OPEN.includes(status);

/**
 * @param {TaskAnswer} answer
 * @param {boolean} local
 * @param {Acts} acts
 * @param {{ payload: unknown, logs: import('../../routes.ts').Answer<'logs'> | undefined }} data texts of clients and tools
 */
export function taskView(answer, local, acts, { payload, logs }) {
  const { story, explanation, timeline, now } = answer;
  if ('unreadable' in story) return unreadable(story, explanation);
  return html`${back}
    <h1 tabindex="-1">${broken(story.tool)} ${badge(story)}</h1>
    <p class="id">${story.taskId}</p>
    ${progressView(story.progress)}
    ${buttons(story, explanation, acts)}
    ${why(explanation, now)}
    ${waits(story, now)}
    ${timeline === undefined ? null : waterfall(timeline)}
    ${payload}
    ${logsView(logs)}
    ${facts(story, now)}
    ${events(story)}
    ${subscriptions(story, now)}
    ${runs(story, local)}`;
}

/** Shows a button only for an act that would not be refused. @param {Story} story @param {Explanation} explanation @param {Acts} acts */
function buttons(story, { rerunRefusal }, { onCancel, onRerun }) {
  if (isOpen(story)) return html`<div class="buttons"><button @click=${onCancel}>Cancel …</button></div>`;
  if (rerunRefusal === undefined)
    return html`<div class="buttons"><button @click=${onRerun}>Run it again …</button></div>`;
  return story.status === 'completed' ? null : html`<p><small>It is not run again here: ${rerunRefusal}.</small></p>`;
}

const back = html`<nav aria-label="Back"><a href="#/" data-back>← All tasks</a></nav>`;

/** @param {{ taskId: string, stored: Readonly<Record<string, unknown>> }} story @param {Explanation} explanation */
const unreadable = ({ taskId, stored }, explanation) => html`${back}
  <h1 tabindex="-1">A task of another release</h1>
  <p class="id">${taskId}</p>
  ${why(explanation, 0)}
  <h2>What is stored</h2>
  <pre tabindex="0" role="region" aria-label="What is stored">${JSON.stringify(stored, undefined, 2)}</pre>`;

/** As `tasks explain` names it. @param {string} row */
function placeOf(row) {
  if (row === 'A-19') return 'docs/protocol.md, A-19';
  if (row.startsWith('docs/')) return row;
  return `docs/crash-table.md, ${/^\d/.test(row) ? `row ${row}` : `"${row}"`}`;
}

/** @param {Explanation} explanation @param {number} now */
function why({ cause, because, row, endsBy, next, also }, now) {
  return html`<section class="why" aria-labelledby="why-head">
    <h2 id="why-head">${cause.charAt(0).toUpperCase()}${cause.slice(1)}</h2>
    ${because.map((sentence) => html`<p>${sentence}</p>`)}
    ${endsBy === undefined ? null : html`<p>It ends by ${moment(endsBy)}${endsBy > now ? `, in ${span(endsBy - now)}` : ', which is over'}, whatever happens.</p>`}
    ${next.length === 0 ? null : html`<p>Next, in the terminal:</p><ul class="commands">${next.map((command) => html`<li><code>${command}</code></li>`)}</ul>`}
    ${also.map((sentence) => html`<p class="also">${sentence}</p>`)}
    ${row === '' ? null : html`<p><small>${placeOf(row)}</small></p>`}
  </section>`;
}

/** @param {Story} story @param {number} now */
function waits({ waits: all = [] }, now) {
  if (all.length === 0) return null;
  return html`<section aria-labelledby="waits-head">
    <h2 id="waits-head">What it waits for</h2>
    ${table(
      'What it waits for',
      [{ name: 'Name' }, { name: 'Kind' }, { name: 'Until' }],
      all.map(({ name, kind, until, signalled }) => [
        name,
        kind,
        signalled
          ? 'has its answer'
          : until === undefined
            ? 'at once'
            : `${moment(until)}${until > now ? `, in ${span(until - now)}` : ''}`,
      ]),
    )}
  </section>`;
}

/** @param {Story} story @param {number} now */
function facts(story, now) {
  const { createdAt, updatedAt, readableUntil, owner, round, error, progress, rerunOf, isError } = story;
  const ahead = (/** @type {number} */ at) =>
    `${moment(at)}${at > now ? `, in ${span(at - now)}` : `, ${span(now - at)} ago`}`;
  const done = progress && amount(progress);
  return html`<section aria-labelledby="facts-head">
    <h2 id="facts-head">Facts</h2>
    <dl>
      ${fact('Error', error && `${error.message}${error.reason === undefined ? '' : ` (${error.reason})`}`)}
      ${fact('Result', isError === true ? 'an error of the tool' : undefined)}
      ${fact('Progress', progress && `${done === undefined ? 'reported' : `${done}, reported`} ${span(now - progress.at)} ago`)}
      ${fact('Round', String(round))}
      ${fact('Created', ahead(createdAt))}
      ${fact('Changed', ahead(updatedAt))}
      ${fact('Readable until', ahead(readableUntil))}
      ${fact('Owner', html`<span class="id">${owner}</span>`)}
      ${fact('Runs again', rerunOf === undefined ? undefined : html`<a href=${linkOfRerun(rerunOf, owner)}>${shortId(rerunOf)}</a>`)}
    </dl>
  </section>`;
}

/** @param {string} name @param {unknown} value */
const fact = (name, value) => (value === undefined ? null : html`<div><dt>${name}</dt><dd>${value}</dd></div>`);

/** @param {Story} story */
const events = ({ happened }) => html`<section aria-labelledby="events-head">
  <h2 id="events-head">What happened</h2>
  ${table(
    'What happened',
    [{ name: 'At (UTC)', kind: 'number' }, { name: 'What' }, { name: 'Round' }, { name: 'By' }, { name: 'Why' }],
    happened.map(({ at, what, round, by, who, reason, error }) => {
      const said = [error, reason && `“${reason}”`].filter(Boolean).join(', ');
      return [clock(at), what, round ?? '', who ?? by ?? '', said];
    }),
  )}
</section>`;

/** @param {Story} story @param {number} now */
function subscriptions({ deliveries = [], unreadEvents }, now) {
  if (deliveries.length === 0 && !unreadEvents) return null;
  const rows = table(
    'Subscriptions',
    [{ name: 'Event' }, { name: 'Subscription' }, { name: 'State' }],
    deliveries.map(({ event, subscription, state, failedSince = now, lastError = '' }) => [
      event,
      subscription,
      state === 'fails' ? `fails for ${span(now - failedSince)}: ${lastError}` : state,
    ]),
  );
  return html`<section aria-labelledby="subscriptions-head">
    <h2 id="subscriptions-head">Subscriptions</h2>
    ${deliveries.length === 0 ? null : rows}
    ${unreadEvents ? html`<p>Only the newest 500 entries of the log of its owner were read.</p>` : null}
  </section>`;
}

/** @param {Story} story @param {boolean} local */
function runs({ runs: all, links }, local) {
  if (all.length === 0) return null;
  return html`<section aria-labelledby="runs-head">
    <h2 id="runs-head">Its runs in Step Functions</h2>
    ${table(
      'Its runs in Step Functions',
      [
        ...[{ name: 'Round' }, { name: 'Status' }, { name: 'Started (UTC)', kind: 'number' }],
        ...[{ name: 'Took', kind: 'number' }, { name: 'Failed attempts' }, { name: 'State' }],
      ],
      all.map(({ round, status, startedAt, stoppedAt, failures, state, error }) => [
        round,
        `${status}${error === undefined ? '' : ` (${error})`}`,
        startedAt === undefined ? '' : clock(startedAt),
        startedAt === undefined || stoppedAt === undefined ? '' : span(stoppedAt - startedAt),
        failures.length === 0 ? '' : `${failures.length}: ${failures.at(-1)?.error}`,
        state ?? '',
      ]),
    )}
    ${local || links.execution === undefined ? null : html`<p><a href=${links.execution} target="_blank" rel="noopener noreferrer">The last run in the AWS console</a></p>`}
  </section>`;
}
