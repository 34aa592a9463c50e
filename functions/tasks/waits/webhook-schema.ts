import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { setBounded } from '../bounded-map.ts';

/** By the text of the schema. To compile a large one takes a second, and its webhook may get many requests. */
const checks = new Map<string, ValidateFunction | undefined>();
const KEPT = 5;

/** The check of the bodies of a webhook. Undefined: the schema cannot be used, and keeps no body out. */
export function checkOf(schema: object): ValidateFunction | undefined {
  const text = JSON.stringify(schema);
  const check = checks.has(text) ? checks.get(text) : compiled(schema);
  setBounded(checks, text, check, KEPT);
  return check;
}

function compiled(schema: object): ValidateFunction | undefined {
  try {
    const isDraft07 = String('$schema' in schema && schema.$schema).includes('draft-07');
    const options = {
      allErrors: true,
      ownProperties: true,
      strict: false,
      validateFormats: false,
      logger: false,
    } as const;
    return new (isDraft07 ? Ajv : Ajv2020)(options).compile(schema);
  } catch {
    return undefined;
  }
}
