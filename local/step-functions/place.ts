/** A position in a definition, for messages. */
export interface Place {
  readonly machine: string;
  readonly state?: string;
  readonly field?: string;
}

/** A definition that this engine refuses to run. */
export class DefinitionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DefinitionError';
  }
}

export function refuse(place: Place, message: string): never {
  const where = [`state machine '${place.machine}'`];
  if (place.state !== undefined) where.push(`state '${place.state}'`);
  if (place.field !== undefined) where.push(`field '${place.field}'`);
  throw new DefinitionError(`${where.join(', ')}: ${message}`);
}
