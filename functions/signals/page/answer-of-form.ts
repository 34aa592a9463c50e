import { isObject } from '../../tasks/shape.ts';
import type { InputRequest, Signal } from '../../tasks/tool-contract.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a person sent. */
export interface FormAnswer {
  readonly answer: Omit<Extract<Signal, { action: unknown }>, 'at'>;
  /** What they typed, by the names of the inputs, to show it again. */
  readonly typed: ReadonlyMap<string, readonly string[]>;
}

/** A field of a question, and the name of its input: any text can name a field. */
export interface Field {
  readonly name: string;
  readonly input: string;
  readonly schema: Json;
  readonly required: boolean;
}

/** The input that says the time zone of a date and time. */
export const zoneOf = ({ input }: Pick<Field, 'input'>): string => `${input}z`;

/** The fields of a question, in its order. */
export function fieldsOf({ params = {} }: InputRequest): readonly Field[] {
  const { properties, required } = isObject(params.requestedSchema) ? params.requestedSchema : {};
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema], i) => ({
    name,
    input: `f${i}`,
    schema: isObject(schema) ? schema : {},
    required: names.includes(name),
  }));
}

/** The answer in the body of a form. */
export function answerOfForm(body: string, question: InputRequest): FormAnswer {
  const typed = new Map<string, string[]>();
  for (const [name, text] of new URLSearchParams(body)) {
    const texts = typed.get(name) ?? [];
    texts.push(text.replaceAll('\r\n', '\n'));
    typed.set(name, texts);
  }
  const by = typed.get('by')?.[0]?.trim();
  const action = (typed.get('action')?.[0] ?? '') as FormAnswer['answer']['action'];
  const content = Object.fromEntries(
    fieldsOf(question).flatMap((field) => {
      const value = valueIn(field, typed);
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
  return { answer: { action, ...(action === 'accept' && { content }), ...(by && { by }) }, typed };
}

/** The value of a field. One that is empty is left out, as an empty input cannot be distinguished from none. */
function valueIn(field: Field, typed: FormAnswer['typed']): unknown {
  const { input, schema, required } = field;
  const all = typed.get(input) ?? [];
  if (schema.type === 'array') return all.length > 0 || required ? all : undefined;
  const [text = ''] = all;
  if (text === '') return undefined;
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (schema.type === 'number' || schema.type === 'integer') return numberIn(text);
  return schema.format === 'date-time' ? momentIn(text, typed.get(zoneOf(field))?.[0] ?? 'Z') : text;
}

/**
 * Keeps a text that is not a number, so that the check refuses it. The pattern can match in one way only, so a long text costs
 * little.
 */
function numberIn(text: string): number | string {
  const plain = text.trim();
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : text;
}

/** What an input for a date and time gives, with its zone. It has no seconds if they are 0. */
function momentIn(text: string, zone: string): string {
  const local = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/.exec(text);
  return local === null ? text : `${local[1]}${local[2] ?? ':00'}${zone}`;
}
