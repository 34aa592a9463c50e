/** A value as it lies in a table. */
export type AttributeValue = Readonly<Record<string, unknown>>;
export type Item = Readonly<Record<string, AttributeValue>>;
type Plain = Readonly<Record<string, unknown>>;

/** As the SDK's document client does it, for the kinds of value that the store writes. */
export function toItem(plain: Plain): Item {
  const members = Object.entries(plain).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.map(([name, value]) => [name, toValue(value)]));
}

export function fromItem(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, fromValue(value)]));
}

function toValue(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: numberText(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (value instanceof Set && value.size > 0) return { SS: [...value] };
  if (Array.isArray(value)) return { L: value.map(toValue) };
  if (typeof value === 'object') return { M: toItem(value as Plain) };
  throw new TypeError(`The table in memory takes no ${typeof value}`);
}

/** The SDK refuses what a number of JavaScript or of DynamoDB cannot hold exactly. */
function numberText(value: number): string {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new RangeError(`${value} is beyond what a number holds exactly`);
}

function fromValue(value: AttributeValue): unknown {
  const [[type, content] = []] = Object.entries(value);
  switch (type) {
    case 'N':
      return Number(content);
    case 'NULL':
      return null;
    case 'SS':
      return new Set(content as string[]);
    case 'L':
      return (content as AttributeValue[]).map(fromValue);
    case 'M':
      return fromItem(content as Item);
    default:
      return content;
  }
}
