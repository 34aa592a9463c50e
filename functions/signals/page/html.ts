/** Text of HTML that is safe to insert. Only `html` makes it. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

/**
 * HTML from a template. Escapes each value that is not HTML itself; leaves out undefined and false.
 *
 * @example
 * html`<p>${message}</p>`
 */
export function html(fixed: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(fixed.map((text, i) => text + written(parts[i])).join(''));
}

/** An attribute, without a value if that is true. Undefined and false: none. */
export const attribute = (name: string, value: string | number | boolean | undefined): Html =>
  value === undefined || value === false
    ? new Html('')
    : new Html(` ${name}${value === true ? '' : `="${escaped(String(value))}"`}`);

function written(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(written).join('') : escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
