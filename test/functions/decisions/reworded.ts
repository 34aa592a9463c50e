import { randomUUID } from 'node:crypto';

/** Errors of JavaScript that code makes by name. */
const ERRORS = ['Error', 'TypeError', 'RangeError'] as const;

export interface Reworded {
  /** The same value with the messages that code has written. JSON text in it is read. */
  readonly original: (value: unknown) => unknown;
  readonly restore: () => void;
}

/**
 * From now on the message of each new error, and of each failure, is a random text: another one each time. It needs modules
 * that are not loaded yet (`vi.resetModules`), and so does the code that runs after `restore`.
 */
export async function rewordMessages(): Promise<Reworded> {
  const messages = new Map<string, string>();
  const reword = (message: string): string => {
    const text = randomUUID();
    messages.set(text, message);
    return text;
  };
  const real = ERRORS.map((name) => [name, globalThis[name]] as const);
  for (const [name, type] of real) {
    const construct = (target: ErrorConstructor, given: unknown[], newTarget: () => void) => {
      const error: Error = Reflect.construct(target, given, newTarget);
      Object.defineProperty(error, 'message', { value: reword(error.message), configurable: true, writable: true });
      return error;
    };
    globalThis[name] = new Proxy(type, { construct });
  }
  const { FAILURES, RUN_MESSAGES } = await import('../../../functions/tasks/failures.ts');
  for (const kind of Object.values(FAILURES)) rewordMember(kind, 'message', reword);
  for (const reason of Object.keys(RUN_MESSAGES)) rewordMember(RUN_MESSAGES, reason, reword);
  return {
    original: (value) => readable(value, (text) => originalText(text, messages)),
    restore: () => {
      for (const [name, type] of real) globalThis[name] = type;
    },
  };
}

function rewordMember(object: object, name: string, reword: (message: string) => string): void {
  const message: string = Reflect.get(object, name);
  Object.defineProperty(object, name, { get: () => reword(message), enumerable: true });
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A message may quote another one. */
function originalText(text: string, messages: ReadonlyMap<string, string>): string {
  const one = text.replaceAll(ID, (id) => messages.get(id) ?? id);
  return one === text ? text : originalText(one, messages);
}

/** Plain JSON, with the JSON text in it as values. */
export function readable(value: unknown, wording: (text: string) => string = (text) => text): unknown {
  if (Array.isArray(value)) return value.map((one) => readable(one, wording));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, readable(one, wording)]));
  }
  if (typeof value !== 'string') return value;
  if (!/^[[{"]/.test(value)) return wording(value);
  try {
    return readable(JSON.parse(value), wording);
  } catch {
    return wording(value);
  }
}
