import { expect, test } from 'vitest';
import { AwsError } from '../aws-error.ts';
import { createCloudFormation } from '../query/cloudformation.ts';
import { createSts } from '../query/sts.ts';
import type { ResolvedStack } from '../template/resources.ts';
import { answerQuery, readForm, refuseQuery } from '../wire/query.ts';

const resources = Array.from({ length: 101 }, (_, i) => ({ logicalId: `R${i}`, type: 'T', ref: `r<${i}>` }));
const stack = { name: 'S', template: { Resources: { R1: { Type: 'T', Metadata: { text: `"<&'` } } } } };
const service = createCloudFormation({
  stacks: () => [{ stack, resources }] as unknown as ResolvedStack[],
  changedAt: () => 0,
});
const ask = (form: Record<string, string>) => String(answerQuery(service, form, 'key').body);

test('resources of a stack come in pages of 100, as XML', () => {
  const first = ask({ Action: 'ListStackResources', StackName: 'S' });
  expect(first.match(/<member>/g)).toHaveLength(100);
  expect(first).toContain('<PhysicalResourceId>r&lt;0&gt;</PhysicalResourceId>');
  expect(first).toContain('<NextToken>100</NextToken>');
  const second = ask({ Action: 'ListStackResources', StackName: 'S', NextToken: '100' });
  expect(second.match(/<member>/g)).toHaveLength(1);
  expect(second).not.toContain('NextToken');
});

test('a resource comes with its metadata; an unknown stack, resource or operation is refused by name', () => {
  const detail = ask({ Action: 'DescribeStackResource', StackName: 'S', LogicalResourceId: 'R1' });
  expect(detail).toContain('<Metadata>{&quot;text&quot;:&quot;\\&quot;&lt;&amp;&#39;&quot;}</Metadata>');
  expect(() => ask({ Action: 'ListStackResources', StackName: 'X' })).toThrow('Stack with id X does not exist');
  expect(() => ask({ Action: 'DescribeStackResource', StackName: 'S', LogicalResourceId: 'X' })).toThrow(
    'does not exist',
  );
  expect(() => ask({ Action: 'DeleteStack', StackName: 'S' })).toThrow('cloudformation does not know DeleteStack here');
  const refused = refuseQuery(new AwsError('AccessDenied', 'a < b', 403));
  expect(refused).toMatchObject({ status: 403, error: 'AccessDenied' });
  expect(refused.body).toContain('<Code>AccessDenied</Code><Message>a &lt; b</Message>');
});

test('STS says who calls', () => {
  const sts = createSts('1', (key) => `arn:${key}`);
  const form = readForm(Buffer.from('Action=GetCallerIdentity&Version=2011-06-15'));
  expect(answerQuery(sts, form, 'key').body).toContain('<Arn>arn:key</Arn>');
});
