/** The partitions of AWS beside `aws`: how their regions begin, their names, the suffixes of their hosts (partitions of the AWS SDK). */
const PARTITIONS = [
  ['cn-', 'aws-cn', 'amazonaws.com.cn'],
  ['us-gov-', 'aws-us-gov', 'amazonaws.com'],
  ['eusc-', 'aws-eusc', 'amazonaws.eu'],
  ['us-iso-', 'aws-iso', 'c2s.ic.gov'],
  ['us-isob-', 'aws-iso-b', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'aws-iso-e', 'cloud.adc-e.uk'],
  ['us-isof-', 'aws-iso-f', 'csp.hci.ic.gov'],
] as const;

const find = (region: string) => PARTITIONS.find(([begin]) => region.startsWith(begin));

/** The name of the partition of a region: the second part of its ARNs. */
export const partitionOf = (region: string): string => find(region)?.[1] ?? 'aws';

/** How the hosts of a region end. */
export const urlSuffixOf = (region: string): string => find(region)?.[2] ?? 'amazonaws.com';
