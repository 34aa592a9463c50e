import { RegionInfo } from 'aws-cdk-lib/region-info';
import { expect, test } from 'vitest';
import { partitionOf, urlSuffixOf } from '../../partition.ts';

test('each region has the partition and the hosts that CDK knows', () => {
  const known = RegionInfo.regions.map(({ name, partition, domainSuffix }) => [name, partition, domainSuffix]);
  expect(known.length).toBeGreaterThan(30);
  expect(known.map(([name = '']) => [name, partitionOf(name), urlSuffixOf(name)])).toEqual(known);
});
