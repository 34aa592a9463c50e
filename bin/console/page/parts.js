import { html } from './lit-html.js';
import { amount, words } from './text.js';

/** Parts that several views show. */

/** @typedef {import('../../../functions/operator/show.ts').Progress} Progress */
/** @typedef {{ name: string, kind?: string }} Column `kind`: a class of its cells */

/** A name that may break after its underscores. @param {string} name */
export const broken = (name) => name.split(/(?<=_)/).map((part, i) => (i === 0 ? part : html`<wbr />${part}`));

/** @param {{ status: string, seenAs?: string, isError?: boolean }} task */
export function badge({ status, seenAs, isError }) {
  const failed = isError === true && status === 'completed';
  const seen = seenAs === undefined ? null : html` <small>seen as ${words(seenAs)}</small>`;
  return html`<span class="badge ${failed ? 'tool-error' : status}">${failed ? 'completed: error' : words(status)}</span>${seen}`;
}

/** A bar, the amounts, and the tool's message. @param {Progress | undefined} progress */
export function progressView(progress) {
  if (progress === undefined) return null;
  const { done = 0, of, message } = progress;
  const counted = amount(progress);
  const bar =
    of === undefined || of <= 0
      ? null
      : html`<progress max=${of} value=${Math.max(0, Math.min(done, of))} aria-label="Progress"></progress> `;
  return html`<span class="progress">${bar}${counted === undefined ? null : html`<span class="number">${counted}</span>${message === undefined ? null : ' · '}`}${message === undefined ? null : html`<span class="message">${message}</span>`}</span>`;
}

/**
 * A table whose rows become cards in a narrow window: each cell then has the name of its column before it. The roles keep
 * it a table for screen readers.
 *
 * @param {string} label @param {readonly Column[]} columns @param {readonly (readonly unknown[])[]} rows
 */
export const table = (label, columns, rows) => html`<table class="cards" role="table" aria-label=${label}>
  <thead role="rowgroup"><tr role="row">${columns.map(({ name }) => html`<th role="columnheader">${name}</th>`)}</tr></thead>
  <tbody role="rowgroup">${rows.map(
    (cells) =>
      html`<tr role="row">${cells.map(
        (cell, i) =>
          html`<td role="cell" class="${columns[i]?.kind ?? ''} ${cell === '' || cell === undefined ? 'none' : ''}" data-name=${columns[i]?.name ?? ''}><span>${cell}</span></td>`,
      )}</tr>`,
  )}</tbody>
</table>`;
