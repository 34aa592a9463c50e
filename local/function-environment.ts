import { mayLog } from './iam/deployed.ts';
import type { Iam } from './iam/index.ts';
import { SECRET_ACCESS_KEY } from './iam/secret-access-key.ts';
import type { FunctionUrls } from './lambda/function-urls.ts';
import { urlSuffixOf } from './partition.ts';
import type { ResolvedStack } from './template/resources.ts';

export type OnLog = (source: string, line: string, stream: 'stdout' | 'stderr', requestId?: string) => void;

/**
 * The environment that Lambda gives every function, with the endpoint of this cloud. Variables of the template win, except those that
 * ask for FIPS or dual-stack endpoints of AWS: a client refuses them beside another endpoint.
 */
export function awsEnvironment(
  logicalId: string,
  variables: Readonly<Record<string, string>>,
  endpoint: string,
  region: string,
): Record<string, string> {
  // Clients of SQS call the host of a queue's URL.
  const queues = `https://sqs.${region}.${urlSuffixOf(region)}/`;
  const own = Object.entries(variables).map(([name, value]) => [name, value.replaceAll(queues, `${endpoint}/`)]);
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: logicalId,
    AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    ...Object.fromEntries(own),
    ...(variables.AWS_USE_FIPS_ENDPOINT && { AWS_USE_FIPS_ENDPOINT: 'false' }),
    ...(variables.AWS_USE_DUALSTACK_ENDPOINT && { AWS_USE_DUALSTACK_ENDPOINT: 'false' }),
  };
}

/** Drops the output of functions that may not write their logs: on AWS it is lost too. */
export function withoutForbiddenLogs(stacks: readonly ResolvedStack[], iam: Iam, onLog: OnLog): OnLog {
  const functions = stacks.flatMap(({ resources }) => resources.filter(({ type }) => type === 'AWS::Lambda::Function'));
  const mute = new Set(functions.filter((resource) => !mayLog(resource, iam)).map(({ name }) => name));
  for (const name of mute) onLog('cloud', `${name} may not write its logs`, 'stderr');
  return (name, ...line) => (mute.has(name) ? undefined : onLog(name, ...line));
}

/** Replaces the URLs of functions, as the template names them, with their local URLs in all texts of an object. */
export function localized<T extends object>(value: T, { localize }: Pick<FunctionUrls, 'localize'>): T {
  const entries = Object.entries(value).map(([name, one]) => [name, typeof one === 'string' ? localize(one) : one]);
  return Object.fromEntries(entries) as T;
}
