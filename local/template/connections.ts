import { objectOf, stringOf } from '../json.ts';
import { connectionSecretArn } from './identity.ts';
import { about, type ResolvedStack, type Resource, unknownValue } from './resources.ts';

/** How HTTP tasks authenticate. */
export interface Connection {
  readonly arn: string;
  readonly secretArn: string;
  /** The header with the credentials. */
  readonly header: readonly [name: string, value: string];
}

/** The connections of the template, by ARN. Throws a ResourceError for one that is not known here. */
export function readConnections(stacks: readonly ResolvedStack[]): ReadonlyMap<string, Connection> {
  const resources = stacks.flatMap((stack) => stack.resources.filter(({ type }) => type === 'AWS::Events::Connection'));
  return new Map(
    resources.map((resource) => [resource.arn ?? '', about(resource, () => readConnection(resource))] as const),
  );
}

function readConnection(resource: Resource): Connection {
  const { AuthorizationType, AuthParameters } = resource.properties;
  const { BasicAuthParameters, ApiKeyAuthParameters, ...others } = objectOf(AuthParameters);
  const [other] = Object.keys(others);
  if (other !== undefined) throw unknownValue(resource, 'AuthParameters', other);
  const header = ((): readonly [string, string] => {
    if (AuthorizationType === 'BASIC') {
      const { Username, Password } = objectOf(BasicAuthParameters);
      const credentials = `${text(resource, 'Username', Username)}:${text(resource, 'Password', Password)}`;
      return ['authorization', `Basic ${Buffer.from(credentials).toString('base64')}`];
    }
    if (AuthorizationType === 'API_KEY') {
      const { ApiKeyName, ApiKeyValue } = objectOf(ApiKeyAuthParameters);
      return [text(resource, 'ApiKeyName', ApiKeyName), text(resource, 'ApiKeyValue', ApiKeyValue)];
    }
    throw unknownValue(resource, 'AuthorizationType', AuthorizationType);
  })();
  return { arn: resource.arn ?? '', secretArn: connectionSecretArn(resource), header };
}

/** A credential that is in the template itself: one that is kept elsewhere is not here. */
function text(resource: Resource, name: string, value: unknown): string {
  const known = stringOf(value);
  if (known === undefined || known.includes('not-run-locally')) {
    throw unknownValue(resource, `AuthParameters.${name}`, 'a value that is kept in another service');
  }
  return known;
}
