export type Members = Readonly<Record<string, unknown>>;

/** The request an answer is for; `version` is the revision it was made in, if that is not the newest of its era. */
export interface Sent {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly version?: string;
}

export const TASKS = 'io.modelcontextprotocol/tasks';
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';
export const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of `value`; none if it is not an object, for which the schema has a better message. */
export const members = (value: unknown): Members => (isObject(value) ? value : {});
export const metaOf = (value: unknown): Members => members(members(value)._meta);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const unless = (fine: boolean, problem: string): string[] => (fine ? [] : [problem]);

export function lacks(where: string, value: unknown, ...keys: string[]): string[] {
  return keys.filter((key) => key in members(value)).map((key) => `${where} must not have '${key}'`);
}

export function only(where: string, value: unknown, ...keys: string[]): string[] {
  return lacks(where, value, ...Object.keys(members(value)).filter((key) => !keys.includes(key)));
}

export const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 2_000);

/** An id that a server can read, and therefore has to repeat. */
export const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id);
