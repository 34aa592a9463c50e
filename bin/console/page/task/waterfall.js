import { html, svg } from '../lit-html.js';
import { table } from '../parts.js';
import { clock, span } from '../text.js';
import { bars, failures } from './bars.js';

/** @typedef {import('../../../../functions/operator/timeline.ts').Timeline} Timeline */
/** @typedef {import('../../../../functions/operator/timeline.ts').Lane} Lane */
/** @typedef {import('../../../../functions/operator/timeline.ts').Waiting} Waiting */

/** @type {Readonly<Record<Waiting, string>>} */
const NAMES = { people: 'people', clock: 'the clock', aws: 'AWS', tool: 'the tool' };
/** @type {Readonly<Record<Lane['kind'], string>>} */
const LANES = { round: 'Round', question: 'Question of round', wait: 'Wait of round', state: '' };
/** @type {readonly Waiting[]} */
const ORDER = ['people', 'clock', 'aws', 'tool'];

/** Heights in pixels of a bar, a state's bar and the axis. */
const [BAR, STATE, AXIS] = [16, 10, 20];

/** @param {Lane} lane */
const nameOf = ({ kind, round, name = '' }) => (kind === 'state' ? name : `${LANES[kind]} ${round}`);
/** @param {Lane} lane */
const lengthOf = ({ spans }) => spans.reduce((sum, { from, to }) => sum + to - from, 0);
/** @param {Lane} lane */
const factsOf = ({ kind, visits = 1, spans }) =>
  [kind === 'state' && visits > 1 && `${visits} visits`, failures(spans)].filter(Boolean).join(' · ');

/** @param {Timeline} timeline */
export function waterfall(timeline) {
  const { from, to, open, lanes, totals } = timeline;
  const whole = Math.max(1, to - from);
  const shares = ORDER.map((waiting) => ({
    waiting,
    ms: totals[waiting],
    share: Math.round((totals[waiting] / whole) * 100),
  }));
  const text = shares
    .map(({ waiting, ms, share }) => `${span(ms)} (${share}%) waiting for ${NAMES[waiting]}`)
    .join(', ');
  const failed = lanes.some(({ spans }) => failures(spans) !== '');
  return html`<section aria-labelledby="waterfall-head">
    <h2 id="waterfall-head">Where the time went</h2>
    <ul class="legend">
      ${shares.map(
        ({ waiting, ms, share }) => html`<li>${swatch(waiting)}
        Waits for ${NAMES[waiting]}: <strong>${span(ms)}</strong> (${share}%)</li>`,
      )}
      ${failed ? html`<li>${swatch('failed')} A try that failed</li>` : null}
    </ul>
    <div class="waterfall" role="img" aria-label="${`${span(whole)}${open ? ' so far' : ''}: ${text}`}. The table below has each part.">
      <svg width="100%" height=${AXIS}>${[0, 0.5, 1].map((part) => tick(part, whole))}</svg>
      ${lanes.map((lane) => laneOf(lane, timeline))}
    </div>
    <details><summary>The same as a table</summary>${asTable(timeline)}</details>
  </section>`;
}

/** @param {string} kind */
const swatch = (kind) =>
  html`<svg class="swatch" aria-hidden="true"><rect class=${kind} width="14" height="14" rx="2" /></svg>`;

/** @param {number} part @param {number} whole */
function tick(part, whole) {
  const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
  return svg`<text class="axis" x="${part * 100}%" y="14" text-anchor=${anchor}>${part === 0 ? '0' : span(whole * part)}</text>`;
}

/** @param {Lane} lane @param {Timeline} timeline */
function laneOf(lane, { from, to }) {
  const facts = factsOf(lane);
  const height = lane.kind === 'state' ? STATE : BAR;
  return html`<div class="lane ${lane.kind === 'state' ? 'state' : ''}"><span>${nameOf(lane)} · ${span(lengthOf(lane))}</span>${facts === '' ? null : html` · <span class="facts">${facts}</span>`}</div>
    <svg width="100%" height=${height}>
      <rect class="track" width="100%" height=${height} rx="3"></rect>
      ${bars(lane.spans, from, to).map(({ kind, x, width }) => svg`<rect class=${kind} x="${x}%" width="${width}%" height=${height}></rect>`)}
    </svg>`;
}

/** @param {Timeline} timeline */
const asTable = ({ lanes }) =>
  table(
    'Where the time went, as a table',
    [
      { name: 'Part' },
      { name: 'Waits for' },
      { name: 'From (UTC)', kind: 'number' },
      { name: 'Took', kind: 'number' },
      { name: 'Ended by' },
    ],
    lanes.flatMap((lane) =>
      lane.spans.map(({ waiting, from, to, error }) => [
        ...[nameOf(lane), NAMES[waiting], clock(from), span(to - from), error ?? ''],
      ]),
    ),
  );
