import { randomUUID } from 'node:crypto';

/** Step Functions ends an Express execution after five minutes (docs: "Step Functions service quotas"). */
const LONGEST_SECONDS = 300;
/** Express offers "request response" only (docs: "Integrating optimized services with Step Functions"). */
const WAITS_FOR_WORK = /\.(sync(:2)?|waitForTaskToken)$/;

export const isExpress = ({ type }: { readonly type?: 'EXPRESS' }): boolean => type === 'EXPRESS';

/** Whether an execution is an Express one, by its ARN. */
export const isExpressRun = ({ arn }: { readonly arn: string }): boolean => arn.split(':')[5] === 'express';

/** Makes an ARN. Each start has another one, even with the same name. @param prefix `…:execution:<machine>:` */
export const expressArn = (prefix: string, name: string): string =>
  `${prefix.replace(':execution:', ':express:')}${name}:${randomUUID()}`;

/** The timeout of an execution, in seconds. */
export const expressTimeout = (asked = LONGEST_SECONDS): number => Math.min(asked, LONGEST_SECONDS);

export const expressResources = (resources: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...resources].filter((resource) => !WAITS_FOR_WORK.test(resource)));
