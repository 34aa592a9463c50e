import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Deployed } from '../lambda/index.ts';
import type { AppSpecs } from './app.ts';
import type { ResolvedStack, Resource } from './resources.ts';

const FUNCTION = 'AWS::Lambda::Function';
/** The properties of a function that `Deployed` covers. */
const CHANGEABLE = ['Code', 'Handler', 'Environment', 'Timeout', 'Description'];

type App = Pick<AppSpecs, 'stacks' | 'specs'>;

/** The differences between the assembly that a cloud runs and another one. */
export function changesBetween(before: App, after: App) {
  const [old, now] = [byId(before.stacks), byId(after.stacks)];
  // The folder of an asset is named after its content; each build of `dev` has a folder of its number.
  const code = new Map(before.specs.functions.map(({ name, codePath }) => [name, basename(codePath)]));
  const differ = [...new Set([...old.keys(), ...now.keys()])].filter(
    (id) => !isDeepStrictEqual(fixedPart(old.get(id)), fixedPart(now.get(id))),
  );
  const refusals = new Map(before.specs.functions.map(({ name, refusal }) => [name, refusal]));
  const changed = after.specs.functions.filter(({ logicalId, name, codePath, refusal }) => {
    const [was, is] = [old.get(logicalId), now.get(logicalId)];
    if (code.get(name) !== basename(codePath) || refusals.get(name) !== refusal) return true;
    return !isDeepStrictEqual(was?.properties, is?.properties);
  });
  return {
    /** Functions whose code or settings differ, by name. */
    functions: new Map<string, Deployed>(
      changed.map(({ name, codePath, handler, environment, timeoutSeconds, refusal }) => {
        return [name, { codePath, handler, environment, timeoutSeconds, ...(refusal !== undefined && { refusal }) }];
      }),
    ),
    /** Resources that cannot change while the cloud runs, such as `AWS::DynamoDB::Table Tasks`. */
    others: differ.map((id) => `${(now.get(id) ?? old.get(id))?.type} ${id}`),
  };
}

const byId = (stacks: readonly ResolvedStack[]): Map<string, Resource> =>
  new Map(stacks.flatMap(({ resources }) => resources.map((resource) => [resource.logicalId, resource] as const)));

/** The part of a resource that cannot change while it runs. */
function fixedPart(resource: Resource | undefined) {
  if (resource?.type !== FUNCTION) return resource && [resource.type, resource.name, resource.properties];
  const rest = Object.entries(resource.properties).filter(([name]) => !CHANGEABLE.includes(name));
  return [resource.type, resource.name, Object.fromEntries(rest)];
}
