import { html, render } from '../lit-html.js';

/**
 * Shows the questions of a tool as forms, made from their schemas: strings, numbers, booleans, and choices of one or many.
 *
 * @typedef {import('../../../../functions/tasks/tool-contract.ts').InputRequest} InputRequest
 * @typedef {{ type?: string, title?: string, description?: string, default?: unknown, enum?: unknown[], enumNames?: string[],
 *   oneOf?: Choice[], anyOf?: Choice[], items?: Field, format?: string, minLength?: number, maxLength?: number,
 *   minimum?: number, maximum?: number }} Field
 * @typedef {{ const?: unknown, title?: string }} Choice
 * @typedef {(key: string, answer: unknown, reason: string) => void} OnAnswer
 */

/** The type of an input by the format of its field. @type {Readonly<Record<string, string>>} */
const INPUTS = { email: 'email', uri: 'url', date: 'date' };

/**
 * @param {Readonly<Record<string, InputRequest>>} questions
 * @param {Map<string, HTMLElement>} forms each question keeps its element, with the text typed into it
 * @param {boolean} local
 * @param {OnAnswer} onAnswer
 */
export function questionsView(questions, forms, local, onAnswer) {
  return Object.entries(questions).map(([key, request], i) => {
    const place = forms.get(key) ?? document.createElement('div');
    forms.set(key, place);
    render(question(`question-${i}`, key, request, local, onAnswer), place);
    return place;
  });
}

/**
 * Shows one question. The fields of the tool have their own form, and names that the page chooses: none can pass for the
 * operator's reason, or hide a member of the form. All elements are found by selectors.
 *
 * @param {string} id @param {string} key @param {InputRequest} request @param {boolean} local @param {OnAnswer} onAnswer
 */
function question(id, key, { method, params = {} }, local, onAnswer) {
  const schema = /** @type {{ properties?: Record<string, Field>, required?: string[] } | undefined} */ (
    params.requestedSchema
  );
  const elicits = method === 'elicitation/create';
  const properties = elicits ? Object.entries(schema?.properties ?? {}) : [];
  const isForm = elicits && schema?.properties !== undefined;
  const isUrl = elicits && typeof params.url === 'string';
  /** @param {Event} event @param {string} selector */
  const near = ({ currentTarget }, selector) =>
    /** @type {HTMLElement} */ (currentTarget).closest('.question')?.querySelector(selector);
  /** @param {Event} event @param {unknown} answer */
  const send = (event, answer) => {
    const reason = /** @type {HTMLInputElement | null} */ (near(event, '.reason input'));
    if (reason === null || reason.reportValidity()) onAnswer(key, answer, reason?.value ?? '');
  };
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    if (isForm) return send(event, { action: 'accept', content: contentOf(form, properties) });
    if (isUrl) return send(event, { action: 'accept' });
    const area = /** @type {HTMLTextAreaElement} */ (form.querySelector('textarea'));
    let answer;
    try {
      answer = JSON.parse(area.value);
    } catch {
      area.setCustomValidity('This is not JSON');
      return area.reportValidity();
    }
    return send(event, answer);
  };
  /** Enter in the reason answers. @param {SubmitEvent} event */
  const answerByReason = (event) => {
    event.preventDefault();
    /** @type {HTMLButtonElement} */ (near(event, 'button.main')).click();
  };
  const reason = html`<form class="reason" @submit=${answerByReason}>
    <label>Your reason, for the audit log <input name="reason" maxlength="200" autocomplete="off" required /></label>
  </form>`;
  return html`<div class="question">
    <form id=${id} @submit=${submit}>
      <fieldset>
        <legend>${key.replace(/^r\d+\./, '')}</legend>
        <p class="asked">${typeof params.message === 'string' ? params.message : `The tool sends the client ${method}.`}</p>
        ${properties.map(([name, field], i) => fieldOf(`field.${i}`, { ...field, title: field.title ?? name }, schema?.required?.includes(name) === true))}
        ${isUrl ? html`<p>It asks to open this address: ${addressOf(String(params.url))}</p>` : null}
        ${
          isForm || isUrl
            ? null
            : html`<pre tabindex="0">${JSON.stringify(params, undefined, 2)}</pre>
          <label>Answer, as JSON <textarea rows="4" required @input=${clear}></textarea></label>`
        }
      </fieldset>
    </form>
    ${local ? null : reason}
    <div class="buttons">
      ${elicits ? html`<button type="button" @click=${(/** @type {Event} */ event) => send(event, { action: 'decline' })}>Decline</button>` : null}
      <button class="main" form=${id}>Answer</button>
    </div>
  </div>`;
}

/** @param {Event} event */
const clear = ({ currentTarget }) => /** @type {HTMLTextAreaElement} */ (currentTarget).setCustomValidity('');

/** Shows a URL. A tool may name any scheme: only http and https become links. @param {string} url */
const addressOf = (url) =>
  /^https?:\/\//i.test(url)
    ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${url}</a>`
    : html`<code>${url}</code>`;

/** @param {string} name @param {Field} field @param {boolean} required */
function fieldOf(name, field, required) {
  const { title, description, default: preset } = field;
  const label = html`${title}${required ? '' : ' (optional)'}${description === undefined ? null : html`<small>${description}</small>`}`;
  const choices = choicesOf(field);
  if (field.type === 'array') {
    const chosen = Array.isArray(preset) ? preset : [];
    return html`<fieldset class="choices"><legend>${label}</legend>
      ${choicesOf(field.items ?? {}).map(({ value, text }) => html`<label class="check"><input type="checkbox" name=${name} value=${value} ?checked=${chosen.includes(value)} /> ${text}</label>`)}
    </fieldset>`;
  }
  if (choices.length > 0) {
    return html`<label>${label}<select name=${name} ?required=${required}>
      <option value="">Choose …</option>
      ${choices.map(({ value, text }) => html`<option value=${value} ?selected=${value === String(preset)}>${text}</option>`)}
    </select></label>`;
  }
  const value = preset === undefined || preset === null ? '' : String(preset);
  if (field.type === 'number' || field.type === 'integer') {
    return html`<label>${label}<input type="number" name=${name} value=${value} step=${field.type === 'integer' ? '1' : 'any'}
      min=${field.minimum ?? ''} max=${field.maximum ?? ''} ?required=${required} /></label>`;
  }
  return html`<label>${label}<input type=${INPUTS[field.format ?? ''] ?? 'text'} name=${name} value=${value} autocomplete="off"
    minlength=${field.minLength ?? 0} maxlength=${field.maxLength ?? 524_288} ?required=${required} /></label>`;
}

/** @param {Field} field @returns {{ value: string, text: string }[]} */
function choicesOf({ type, enum: values, enumNames = [], oneOf, anyOf }) {
  if (type === 'boolean')
    return [
      { value: 'true', text: 'yes' },
      { value: 'false', text: 'no' },
    ];
  const titled = oneOf ?? anyOf;
  if (Array.isArray(titled))
    return titled.map(({ const: value, title }) => ({ value: String(value), text: title ?? String(value) }));
  return (Array.isArray(values) ? values : []).map((value, i) => ({
    value: String(value),
    text: enumNames[i] ?? String(value),
  }));
}

/** The values of the form, typed by its schema, without empty ones. @param {HTMLFormElement} form @param {[string, Field][]} properties */
function contentOf(form, properties) {
  const data = new FormData(form);
  const values = properties.map(([name, { type }], i) => {
    const given = data.getAll(`field.${i}`).map(String);
    return /** @type {[string, unknown]} */ ([name, type === 'array' ? given : typed(given[0] ?? '', type)]);
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** @param {string} text @param {string} [type] */
function typed(text, type) {
  if (text === '') return undefined;
  if (type === 'number' || type === 'integer') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}
