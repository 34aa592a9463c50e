import { decodeHeaderValue } from '../../authorizer/header-value.ts';
import { HeaderMismatch } from '../../tasks/errors.ts';
import { isObject } from '../../tasks/shape.ts';
import type { ParamHeader } from '../manifest.ts';
import type { HttpRequest } from './http.ts';

/** D-07: a marked argument and its header are both present and equal, or both absent. */
export function checkParamHeaders(marks: readonly ParamHeader[], args: unknown, request: HttpRequest): void {
  for (const mark of marks) {
    const name = `Mcp-Param-${mark.header}`;
    const sent = request.headers[name.toLowerCase()];
    const value = mark.path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), args);
    if (value === undefined || value === null) {
      if (sent !== undefined) throw new HeaderMismatch(`${name} is there, but its argument is not`);
      continue;
    }
    if (sent === undefined) throw new HeaderMismatch(`${name} is missing`);
    if (!equal(decodeHeaderValue(sent), value, mark.type))
      throw new HeaderMismatch(`${name} does not match its argument`);
  }
}

function equal(sent: string | undefined, value: unknown, type: ParamHeader['type']): boolean {
  if (sent === undefined) return false;
  if (type === 'integer' && typeof value === 'number') return /^[+-]?\d+(\.0+)?$/.test(sent) && Number(sent) === value;
  return sent === String(value);
}
