/** Whether `name` is the logical id of a resource, with or without the digest that CDK appends. */
export function matchesLogicalId(logicalId: string, name: string): boolean {
  return logicalId === name || logicalId.replace(/[0-9A-F]{8}$/, '') === name;
}
