import { html } from '../lit-html.js';
import { clock } from '../text.js';
import { questionsView } from './questions.js';

/** @typedef {import('../../../../functions/operator/payload.ts').Payload} Payload */

/** The most characters of one value that the page shows. */
const MOST = 200_000;

/** @param {string} title @param {unknown} value */
function part(title, value) {
  if (value === undefined) return null;
  const text = JSON.stringify(value, undefined, 2);
  const cut = text.length > MOST;
  return html`<h3>${title}</h3>
    <pre tabindex="0" role="region" aria-label=${title}>${cut ? text.slice(0, MOST) : text}</pre>
    ${cut ? html`<p><small>Cut: it has ${text.length} characters. mcp-task-server tasks show prints all of them.</small></p>` : null}`;
}

/**
 * Shows the texts of people and of the tool. For a deployed server, the page has none of them until the operator asks.
 *
 * @param {{ asks: boolean, local: boolean, forms: Map<string, HTMLElement>, payload: Payload | undefined, problem: string | undefined,
 *   onShow: () => void, onHide: () => void, onAnswer: import('./questions.js').OnAnswer }} state
 */
export function payloadView({ asks, local, forms, payload, problem, onShow, onHide, onAnswer }) {
  const trouble = problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`;
  if (payload === undefined) {
    return html`<section aria-labelledby="payload-head">
      <h2 id="payload-head">${asks ? 'Its questions' : 'What it got and returned'}</h2>
      <p>Arguments, questions, answers, result and errors are hidden.</p>
      <button @click=${onShow}>${asks ? 'Show the questions, to answer them' : 'Show arguments and result'}</button>
      ${trouble}
    </section>`;
  }
  const { arguments: given, questions = {}, links, answers, result, errors = [] } = payload;
  const open = Object.keys(questions).length > 0;
  return html`${open ? html`<section aria-labelledby="questions-head"><h2 id="questions-head">Its questions</h2>${questionsView(questions, forms, local, onAnswer)}</section>` : null}
    ${errors.length === 0 ? null : thrown(errors)}
    <section aria-labelledby="payload-head">
      <h2 id="payload-head">What it got and returned</h2>
      ${trouble}
      ${given === undefined ? html`<p>Its arguments are not known any more.</p>` : part('Arguments', given)}
      ${part('Its links: who has one may answer', links)}
      ${part('Answers', answers)}
      ${part('Result', result)}
      ${local ? null : html`<button @click=${onHide}>Hide them</button>`}
    </section>`;
}

/** @param {NonNullable<Payload['errors']>} errors */
const thrown = (errors) => html`<section aria-labelledby="thrown-head">
  <h2 id="thrown-head">What it threw (UTC)</h2>
  ${errors.map(
    ({ at, error, message, stack = [] }) => html`<h3><span class="number">${clock(at)}</span> ${error}</h3>
      <pre class="thrown" tabindex="0" role="region" aria-label="What it threw at ${clock(at)}">${[message, ...stack].join('\n')}</pre>`,
  )}
</section>`;
