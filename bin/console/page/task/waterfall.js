import { html, svg } from '../lit-html.js';
import { clock, span } from '../text.js';

/** @typedef {import('../../../../functions/operator/timeline.ts').Timeline} Timeline */
/** @typedef {import('../../../../functions/operator/timeline.ts').Lane} Lane */
/** @typedef {import('../../../../functions/operator/timeline.ts').Waiting} Waiting */

/** @type {Readonly<Record<Waiting, string>>} */
const NAMES = { people: 'people', aws: 'AWS', tool: 'the tool' };
/** @type {readonly Waiting[]} */
const ORDER = ['people', 'aws', 'tool'];

/** Heights in pixels: of the axis, of a lane, and of what stands above its bar. */
const [AXIS, LANE, LABEL, BAR] = [24, 44, 18, 16];

/** @param {Lane} lane */
const nameOf = ({ kind, round }) => (kind === 'round' ? `Round ${round}` : `Question of round ${round}`);
/** @param {Lane} lane */
const lengthOf = ({ spans }) => spans.reduce((sum, { from, to }) => sum + to - from, 0);

/** @param {Timeline} timeline */
export function waterfall(timeline) {
  const { from, to, open, lanes, totals } = timeline;
  const whole = Math.max(1, to - from);
  const height = AXIS + lanes.length * LANE;
  const shares = ORDER.map((waiting) => ({
    waiting,
    ms: totals[waiting],
    share: Math.round((totals[waiting] / whole) * 100),
  }));
  const text = shares
    .map(({ waiting, ms, share }) => `${span(ms)} (${share}%) waiting for ${NAMES[waiting]}`)
    .join(', ');
  return html`<section aria-labelledby="waterfall-head">
    <h2 id="waterfall-head">Where the time went</h2>
    <ul class="legend">
      ${shares.map(
        ({
          waiting,
          ms,
          share,
        }) => html`<li><svg class="swatch" aria-hidden="true"><rect class=${waiting} width="14" height="14" rx="2" /></svg>
        Waits for ${NAMES[waiting]}: <strong>${span(ms)}</strong> (${share}%)</li>`,
      )}
    </ul>
    <svg class="waterfall" role="img" aria-label="${`${span(whole)}${open ? ' so far' : ''}: ${text}`}. The table below has each part." width="100%" height=${height}>
      ${[0, 0.5, 1].map((part) => tick(part, whole, height))}
      ${lanes.map((lane, i) => laneOf(lane, timeline, AXIS + i * LANE))}
    </svg>
    <details><summary>The same as a table</summary>${table(timeline)}</details>
  </section>`;
}

/** @param {number} part @param {number} whole @param {number} height */
function tick(part, whole, height) {
  const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
  const x = `${part * 100}%`;
  return svg`<line class="grid" x1=${x} x2=${x} y1=${AXIS - 6} y2=${height}></line>
    <text class="axis" x=${x} y="12" text-anchor=${anchor}>${part === 0 ? '0' : span(whole * part)}</text>`;
}

/** @param {Lane} lane @param {Timeline} timeline @param {number} top */
function laneOf(lane, { from, to }, top) {
  const percent = (/** @type {number} */ ms) => (ms / Math.max(1, to - from)) * 100;
  const begin = percent((lane.spans[0]?.from ?? from) - from);
  // Above its bar, at the end of it where it begins late.
  const late = begin > 50;
  const end = percent((lane.spans.at(-1)?.to ?? to) - from);
  return svg`<text class="lane" x="${late ? end : begin}%" y=${top + LABEL - 5} text-anchor=${late ? 'end' : 'start'}>${nameOf(lane)} · ${span(lengthOf(lane))}</text>
    <rect class="track" x="0" y=${top + LABEL} width="100%" height=${BAR} rx="3"></rect>
    ${lane.spans.map((one) => {
      const x = percent(one.from - from);
      // What took next to nothing is still to be seen.
      const width = Math.max(0.3, percent(one.to - one.from));
      return svg`<rect class=${one.waiting} x="${Math.min(x, 99.7)}%" y=${top + LABEL} width="${width}%" height=${BAR}></rect>
        ${one.error === undefined ? null : svg`<text class="failed" x="${Math.min(x + width, 98)}%" y=${top + LABEL + BAR - 3} text-anchor="end">✗</text>`}`;
    })}`;
}

/** @param {Timeline} timeline */
const table = ({
  lanes,
}) => html`<div class="scroll" tabindex="0" role="region" aria-label="Where the time went, as a table"><table>
  <thead><tr><th>Part</th><th>Waits for</th><th>From (UTC)</th><th>Took</th><th>Ended by</th></tr></thead>
  <tbody>${lanes.flatMap((lane) =>
    lane.spans.map(
      ({ waiting, from, to, error }) =>
        html`<tr><td>${nameOf(lane)}</td><td>${NAMES[waiting]}</td><td class="number">${clock(from)}</td><td class="number">${span(to - from)}</td><td>${error ?? ''}</td></tr>`,
    ),
  )}</tbody>
</table></div>`;
