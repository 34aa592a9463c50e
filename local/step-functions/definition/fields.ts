import { isObject } from '../../json.ts';
import { type Place, refuse } from '../place.ts';

/** Reads a JSON object. `close` refuses the fields that no code has read: only those with an effect are known. */
export interface Fields {
  readonly place: Place;
  at(name: string): Place;
  has(name: string): boolean;
  take(name: string): unknown;
  text(name: string): string;
  /** undefined if absent. */
  number(name: string, bounds: NumberBounds): number | undefined;
  /** The objects in the array of this field; none if it is absent. */
  list(name: string): Fields[];
  object(name: string): Fields;
  close(): void;
}

export interface NumberBounds {
  least: number;
  most: number;
  fraction?: true;
}

/** The longest duration that Step Functions accepts, in seconds. */
export const MOST_SECONDS = 99_999_999;

export function openFields(source: unknown, place: Place): Fields {
  if (!isObject(source)) return refuse(place, 'must be an object');
  const read = new Set<string>();
  const at = (name: string): Place => ({
    ...place,
    field: place.field === undefined ? name : `${place.field}/${name}`,
  });
  const take = (name: string): unknown => {
    read.add(name);
    return Object.hasOwn(source, name) ? source[name] : undefined;
  };

  return {
    place,
    at,
    has: (name) => Object.hasOwn(source, name),
    take,
    text(name) {
      const value = take(name);
      return typeof value === 'string' && value !== '' ? value : refuse(at(name), 'must be a string');
    },
    number(name, bounds) {
      const value = take(name);
      if (value === undefined) return undefined;
      return isNumber(value, bounds) ? value : refuse(at(name), `must be ${describeBounds(bounds)}`);
    },
    list(name) {
      const value = take(name) ?? [];
      if (!Array.isArray(value)) return refuse(at(name), 'must be an array');
      return value.map((item, index) => openFields(item, at(`${name}[${index}]`)));
    },
    object: (name) => openFields(take(name), at(name)),
    close() {
      for (const name of Object.keys(source))
        if (!read.has(name)) refuse(at(name), 'is not known to the embedded Step Functions');
    },
  };
}

export function isNumber(value: unknown, { least, most, fraction }: NumberBounds): value is number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return value >= least && value <= most && (fraction === true || Number.isInteger(value));
}

export function describeBounds({ least, most, fraction }: NumberBounds): string {
  return `${fraction === true ? 'a number' : 'an integer'} from ${least} to ${most}`;
}
