/** What the table in memory uses of dynalite's inside: the parsers and evaluators that stand behind its HTTP server. */
declare module 'dynalite/validations/index.js' {
  /** Parses all expressions of a request into `_updates`, `_condition`, `_projection`, `_keyCondition`, `_filter`, or says what is wrong. */
  export function validateExpressions(request: object): string | undefined;
}

declare module 'dynalite/db/index.js' {
  export function matchesExprFilter(item: object, expression: object): boolean;
  export function mapPaths(paths: readonly unknown[], item: object): object;
}

declare module 'dynalite/actions/deleteItem.js' {
  function deleteItem(store: object, request: object, done: (error: Error | null, answer?: object) => void): void;
  export = deleteItem;
}
declare module 'dynalite/actions/updateItem.js' {
  function updateItem(store: object, request: object, done: (error: Error | null, answer?: object) => void): void;
  export = updateItem;
}

declare module 'dynalite/actions/putItem.js' {
  function putItem(store: object, request: object, done: (error: Error | null, answer?: object) => void): void;
  export = putItem;
}
