import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeAssembly } from './assembly.ts';
import { everything } from './flow.ts';
import { missed } from './report.ts';
import { isElsewhere, type Place, resourcesOf, statementsOf } from './statements.ts';

/** All statements, one after the other, are removed by `npm run proof -- permissions --remove`: it takes minutes. */
let assembly: Awaited<ReturnType<typeof makeAssembly>>;
beforeAll(async () => {
  assembly = await makeAssembly();
});
afterAll(() => assembly?.remove());

/** The statement that grants only this, or else the first one that grants it, too. */
const one = (resource: RegExp, action: string): Place => {
  const actions = ({ statement }: Place) => [statement.Action].flat();
  const granting = statementsOf(assembly.path).filter(
    (place) => resource.test(place.resource) && actions(place).includes(action),
  );
  const found = granting.find((place) => actions(place).length === 1) ?? granting[0];
  if (!found) throw new Error(`nothing of ${resource} grants ${action}`);
  return found;
};

test('every grant is used', async () => {
  expect(await everything(assembly)).toEqual([]);
});

describe('without one statement', () => {
  test.each<[string, RegExp, string, RegExp]>([
    ['no task ends', /^ServerStandardRole/, 'dynamodb:UpdateItem', /^a task that is completed$/],
    ['no event is delivered', /^ServerEventsRole/, 'sqs:SendMessage', /^an event, and again$/],
    ['no function is deployed', /^ServerReconcilerRole/, 'sqs:SendMessage', /may not sqs:SendMessage on .*OnFailure/],
  ])('%s', async (_title, resource, action, message) => {
    expect(await missed(assembly, one(resource, action))).toMatch(message);
  });
});

test('every function has its own role, and no role has a policy that AWS may change', () => {
  const resources = Object.entries(resourcesOf(assembly.path));
  const functions = resources.filter(([, { Type }]) => Type === 'AWS::Lambda::Function');
  const roles = functions.map(([, { Properties }]) => JSON.stringify(Properties.Role));
  expect(functions.length).toBeGreaterThan(4);
  expect(new Set(roles).size).toBe(functions.length);
  const managed = resources.filter(([, { Properties }]) => Properties?.ManagedPolicyArns !== undefined);
  expect(managed.map(([name]) => name)).toEqual([]);
});

/** Actions for which no resource can be named, by their owner, and why. */
const EVERYTHING: readonly (readonly [type: RegExp, actions: RegExp, why: string])[] = [
  [/^AWS::IAM::/, /^xray:/, 'X-Ray has no resources'],
  [/^AWS::IAM::/, /^dynamodb:ListStreams$/, 'it lists all streams; CDK grants it so, too'],
  [
    /^AWS::IAM::/,
    /^logs:(\w*LogDeliver\w*|PutResourcePolicy|DescribeResourcePolicies|DescribeLogGroups)$/,
    'log delivery of Step Functions has no resources',
  ],
];

function wide(places: readonly Place[]) {
  return places
    .filter((place) => !isElsewhere(place))
    .flatMap(({ resource, type, statement }) => {
      const on = [statement.Resource].flat();
      return [statement.Action].flat().map((action) => ({ resource, type, action: String(action), on }));
    })
    .filter(({ action, on }) => action.includes('*') || on.includes('*'))
    .filter(({ type, action }) => !EVERYTHING.some(([of, actions]) => of.test(type) && actions.test(action)));
}

test('no statement has all actions or all resources, unless AWS offers nothing narrower', () => {
  expect(wide(statementsOf(assembly.path))).toEqual([]);
});

test('a wildcard added to any of them would show', () => {
  const mine = statementsOf(assembly.path).filter(({ type, path = [], statement }) => {
    const actions = [statement.Action].flat().map(String);
    return (
      (type === 'AWS::IAM::Policy' || path.includes('Policies')) &&
      !actions.every((action) => EVERYTHING.some(([, known]) => known.test(action)))
    );
  });
  expect(mine.length).toBeGreaterThan(25);
  for (const place of mine) {
    for (const more of [{ Action: 'dynamodb:*' }, { Resource: '*' }, { Resource: ['arn:aws:s3:::a', '*'] }]) {
      expect(wide([{ ...place, statement: { ...place.statement, ...more } }])).not.toEqual([]);
    }
  }
});
