import { html, render } from '../lit-html.js';

/**
 * What a tool asks, as forms made from the schemas that it gave: strings, numbers, booleans, and choices of one or of many.
 *
 * @typedef {import('../../../../functions/tasks/tool-contract.ts').InputRequest} InputRequest
 * @typedef {{ type?: string, title?: string, description?: string, default?: unknown, enum?: unknown[], enumNames?: string[],
 *   oneOf?: Choice[], anyOf?: Choice[], items?: Field, format?: string, minLength?: number, maxLength?: number,
 *   minimum?: number, maximum?: number }} Field
 * @typedef {{ const?: unknown, title?: string }} Choice
 * @typedef {(key: string, answer: unknown, reason: string) => void} OnAnswer
 */

/** How a text field of a format is typed in. @type {Readonly<Record<string, string>>} */
const INPUTS = { email: 'email', uri: 'url', date: 'date' };

/**
 * @param {Readonly<Record<string, InputRequest>>} questions
 * @param {Map<string, HTMLElement>} forms each question keeps its own element, and so what was typed into it
 * @param {boolean} local
 * @param {OnAnswer} onAnswer
 */
export function questionsView(questions, forms, local, onAnswer) {
  return Object.entries(questions).map(([key, request]) => {
    const place = forms.get(key) ?? document.createElement('div');
    forms.set(key, place);
    render(question(key, request, local, onAnswer), place);
    return place;
  });
}

/** @param {string} key @param {InputRequest} request @param {boolean} local @param {OnAnswer} onAnswer */
function question(key, { method, params = {} }, local, onAnswer) {
  const schema = /** @type {{ properties?: Record<string, Field>, required?: string[] } | undefined} */ (
    params.requestedSchema
  );
  const isForm = method === 'elicitation/create' && schema?.properties !== undefined;
  const isUrl = method === 'elicitation/create' && typeof params.url === 'string';
  const reasonOf = (/** @type {HTMLFormElement} */ form) => String(new FormData(form).get('console reason') ?? '');
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    if (isForm)
      return onAnswer(key, { action: 'accept', content: contentOf(form, schema.properties ?? {}) }, reasonOf(form));
    if (isUrl) return onAnswer(key, { action: 'accept' }, reasonOf(form));
    const area = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem('json'));
    try {
      onAnswer(key, JSON.parse(area.value), reasonOf(form));
    } catch {
      area.setCustomValidity('This is no JSON');
      area.reportValidity();
    }
  };
  /** @param {MouseEvent} event */
  const decline = ({ currentTarget }) => {
    const form = /** @type {HTMLButtonElement} */ (currentTarget).form;
    // The reason is needed, the fields are not.
    const reason = form?.elements.namedItem('console reason');
    if (form === null || (reason instanceof HTMLInputElement && !reason.reportValidity())) return;
    onAnswer(key, { action: 'decline' }, reasonOf(form));
  };
  return html`<form class="question" @submit=${submit}>
    <fieldset>
      <legend>${key.replace(/^r\d+\./, '')}</legend>
      <p class="asked">${typeof params.message === 'string' ? params.message : `The tool sends the client ${method}.`}</p>
      ${isForm ? Object.entries(schema.properties ?? {}).map(([name, field]) => fieldOf(name, field, schema.required?.includes(name) === true)) : null}
      ${isUrl ? html`<p>It asks to open this address: ${addressOf(String(params.url))}</p>` : null}
      ${
        isForm || isUrl
          ? null
          : html`<pre tabindex="0">${JSON.stringify(params, undefined, 2)}</pre>
        <label>Answer, as JSON <textarea name="json" rows="4" required @input=${clear}></textarea></label>`
      }
      ${local ? null : html`<label>Reason, for the audit log <input name="console reason" maxlength="200" autocomplete="off" required /></label>`}
    </fieldset>
    <div class="buttons">
      ${method === 'elicitation/create' ? html`<button type="button" @click=${decline}>Decline</button>` : null}
      <button class="main">Answer</button>
    </div>
  </form>`;
}

/** @param {Event} event */
const clear = ({ currentTarget }) => /** @type {HTMLTextAreaElement} */ (currentTarget).setCustomValidity('');

/** A tool may name any scheme: only those of the web become links. @param {string} url */
const addressOf = (url) =>
  /^https?:\/\//i.test(url)
    ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${url}</a>`
    : html`<code>${url}</code>`;

/** @param {string} name @param {Field} field @param {boolean} required */
function fieldOf(name, field, required) {
  const { title, description, default: preset } = field;
  const label = html`${title ?? name}${required ? '' : ' (optional)'}${description === undefined ? null : html`<small>${description}</small>`}`;
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

/** What the form holds, typed as its schema says. What is empty is left out. @param {HTMLFormElement} form @param {Record<string, Field>} properties */
function contentOf(form, properties) {
  const data = new FormData(form);
  /** @type {Record<string, unknown>} */
  const content = {};
  for (const [name, { type }] of Object.entries(properties)) {
    const text = String(data.get(name) ?? '');
    if (type === 'array') content[name] = data.getAll(name);
    else if (text === '') continue;
    else if (type === 'number' || type === 'integer') content[name] = Number(text);
    else content[name] = type === 'boolean' ? text === 'true' : text;
  }
  return content;
}
