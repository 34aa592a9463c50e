import { isObject, listOf, stringOf } from '../json.ts';

export function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isObject(value)) return [];
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': text } = value;
  const named = Array.isArray(attribute) ? attribute[0] : String(attribute ?? '').split('.')[0];
  const inText = String(listOf(text)[0] ?? text ?? '').matchAll(/\$\{([^!}.]+)[^}]*\}/g);
  const own = [stringOf(Ref), stringOf(named), ...[...inText].map(([, name]) => name)];
  return [
    ...own.filter((name) => name !== undefined && name !== ''),
    ...Object.values(value).flatMap(namesIn),
  ] as string[];
}
