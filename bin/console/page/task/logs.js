import { html } from '../lit-html.js';
import { clock } from '../text.js';

/** @typedef {import('../../routes.ts').Answer<'logs'>} LogsAnswer */

/** Shows the log lines of a task; undefined if the page does not show them. @param {LogsAnswer | undefined} logs */
export function logsView(logs) {
  if (logs === undefined) return null;
  const { lines, hidden } = logs;
  return html`<section aria-labelledby="logs-head">
    <h2 id="logs-head">What was logged (UTC)</h2>
    ${lines.length === 0 ? html`<p>Nothing yet. Lines of a tool are here if they hold the id of the task, as lines of defineTool do.</p>` : null}
    <ol class="logs">${lines.map(
      ({ at, source, text, bad }) =>
        html`<li class=${bad ? 'bad' : ''}><span class="number">${clock(at)}</span> <b>${source}</b> <span class="said">${text}</span></li>`,
    )}</ol>
    ${hidden.length === 0 ? null : html`<p><small>Not shown: ${hidden.join('; ')}</small></p>`}
  </section>`;
}
