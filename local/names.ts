/** Whether a resource is meant by a name: its logical id, with or without the digest that CDK puts at the end. */
export function isNamed(logicalId: string, name: string): boolean {
  return logicalId === name || logicalId.replace(/[0-9A-F]{8}$/, '') === name;
}
