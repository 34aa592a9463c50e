import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** The check of the bodies of a webhook. Undefined: the schema cannot be used, and keeps no body out. */
export function checkOf(schema: object): ValidateFunction | undefined {
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
