import type { Signal } from '../../tasks/tool-contract.ts';
import type { Shown } from '../context.ts';
import type { LinkWait } from '../wait.ts';
import { type Field, fieldsOf } from './answer-of-form.ts';
import { type Before, errorId, fieldHtml, labelOf, problemOf } from './fields.ts';
import { attribute, type Html, html } from './html.ts';
import { page } from './layout.ts';

/** What the page of a link is about. */
export interface About extends Shown {
  /** The name of the tool. */
  readonly tool: string;
  readonly wait: LinkWait;
}

const titleOf = ({ titles, tool }: About): string => (Object.hasOwn(titles, tool) ? titles[tool] : undefined) ?? tool;

const LONG = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });
const time = (at: number): Html => html`<time datetime="${new Date(at).toISOString()}">${LONG.format(at)} UTC</time>`;

const head = (about: About): Html => html`<p class="server">${about.server}</p>
<h1>${titleOf(about)}</h1>
<p class="message">${String(about.wait.question.params?.message ?? '')}</p>
`;

/** The page that asks. @param before what was sent, if that did not fit */
export function questionPage(about: About, before?: Before): string {
  const fields = fieldsOf(about.wait.question);
  const by = before?.typed.get('by')?.[0];
  const wrongBy = before?.problems.by;
  return page(
    before === undefined ? titleOf(about) : `Please check: ${titleOf(about)}`,
    html`${head(about)}<p>Please answer by ${time(about.wait.until)}.</p>
${before && summaryOf(fields, before)}<form method="post">
${fields.map((field) => fieldHtml(field, before))}<div class="field"><label for="by">Your name <span class="hint">(optional)</span></label><p class="hint" id="by-hint">The tool and its operators see it.</p><input class="text" type="text" id="by" name="by" autocomplete="name" value="${by ?? ''}" aria-describedby="by-hint${wrongBy !== undefined && ` ${errorId('by')}`}"${attribute('aria-invalid', wrongBy !== undefined && 'true')}>${wrongBy !== undefined && html`<p class="wrong" id="${errorId('by')}">${wrongBy}</p>`}</div>
<div class="acts"><button name="action" value="accept">Accept</button><button class="other" name="action" value="decline" formnovalidate>Decline</button></div>
</form>`,
  );
}

/** All that is wrong, for people who do not see the page as a whole. */
function summaryOf(fields: readonly Field[], before: Before): Html {
  const { by, answer } = before.problems;
  const wrong = fields.flatMap((field) => {
    const problem = problemOf(field, before);
    return problem === undefined ? [] : [html`<li><a href="#${field.input}">${labelOf(field)}</a>: ${problem}</li>`];
  });
  const others = html`${by !== undefined && html`<li><a href="#by">Your name</a>: ${by}</li>`}${answer !== undefined && html`<li>${answer}</li>`}`;
  return html`<div class="summary" role="alert"><p>This was not sent yet. Please check your answer:</p><ul>${wrong}${others}</ul></div>
`;
}

const WORDS = { accept: 'Accepted', decline: 'Declined', cancel: 'Dismissed' } as const;

/** The page after an answer. It does not show the values: a link may be passed on. */
export function answeredPage(about: About, { action, by, at }: Extract<Signal, { action: unknown }>): string {
  return page(
    `${WORDS[action]}: ${titleOf(about)}`,
    html`${head(about)}<div role="status"><p><strong>${WORDS[action]}</strong>${by !== undefined && html` by <bdi>${by}</bdi>`} on ${time(at)}.</p>
<p>Thank you. You can close this page.</p></div>`,
  );
}

/** The page of a link that nothing can be sent to any more. */
export const overPage = (about: About): string =>
  page(
    `Over: ${titleOf(about)}`,
    html`${head(about)}<p><strong>This is over.</strong> An answer was possible until ${time(about.wait.until)} at the latest, or the task has ended before.</p>`,
  );
