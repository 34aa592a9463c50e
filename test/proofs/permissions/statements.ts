import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { listOf, objectOf } from '../../../local/testing.ts';

interface Template {
  readonly Resources: Record<string, { readonly Type: string; readonly Properties: Record<string, unknown> }>;
}

/** One statement of a synthesized policy, or the permission of a function, which counts as a statement. */
export interface Place {
  readonly resource: string;
  readonly type: string;
  /** Where the list of statements is, and which one of them; undefined: the resource is the statement. */
  readonly path?: readonly (string | number)[];
  readonly index?: number;
  readonly statement: Readonly<Record<string, unknown>>;
}

const TEMPLATE = /\.template\.json$/;

/** The resources of an assembly with one stack. */
export const resourcesOf = (assembly: string): Template['Resources'] => readTemplate(assembly).template.Resources;

/** Every statement of every policy of them. */
export function statementsOf(assembly: string): Place[] {
  return Object.entries(resourcesOf(assembly)).flatMap(([resource, { Type: type, Properties }]) => {
    const statement = objectOf(Properties);
    if (type === 'AWS::Lambda::Permission') return [{ resource, type, statement }];
    const documents = [
      ['PolicyDocument'],
      ['AssumeRolePolicyDocument'],
      ['ResourcePolicy'],
      ...listOf(statement.Policies).map((_, index) => ['Policies', index, 'PolicyDocument']),
    ];
    return documents.flatMap((path) =>
      listOf(objectOf(at(statement, path)).Statement).map(
        (one, index): Place => ({ resource, type, path, index, statement: objectOf(one) }),
      ),
    );
  });
}

/** Calls `use` with a copy of the assembly that lacks the statement. */
export async function without<T>(assembly: string, place: Place, use: (copy: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'mcp-less-'));
  try {
    const { name, template } = readTemplate(assembly);
    for (const entry of readdirSync(assembly).filter((other) => other !== name)) {
      symlinkSync(resolve(assembly, entry), join(copy, entry));
    }
    const { resource, path, index = 0 } = place;
    if (path === undefined) delete template.Resources[resource];
    else (objectOf(at(template.Resources[resource]?.Properties, path)).Statement as unknown[]).splice(index, 1);
    writeFileSync(join(copy, name), JSON.stringify(template));
    return await use(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function readTemplate(assembly: string): { name: string; template: Template } {
  const [name = ''] = readdirSync(assembly).filter((entry) => TEMPLATE.test(entry));
  return { name, template: JSON.parse(readFileSync(join(assembly, name), 'utf8')) };
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inside, key) => (inside as Record<string | number, unknown> | undefined)?.[key], value);
}

/** The name of a statement in reports. */
export function nameOf({ resource, index, statement }: Place): string {
  const actions = [statement.Action].flat().join(', ');
  return `${resource}${index === undefined ? '' : `[${index}]`}: ${statement.Effect === 'Deny' ? 'not ' : ''}${actions}`;
}

/** Statements that no call of this cloud can show; a test of the template requires each of them. */
export function isElsewhere({ statement }: Place): boolean {
  const { Effect, Action, Condition } = statement;
  if (Action === 'secretsmanager:DeleteSecret') return Effect === 'Deny';
  return Effect === 'Deny' && /SecureTransport|TlsVersion/.test(JSON.stringify(Condition));
}
