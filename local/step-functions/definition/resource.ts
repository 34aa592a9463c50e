/** The ending by which a task waits until a client answers for its token. */
const TOKEN_ENDING = '.waitForTaskToken';

export const waitsForToken = (resource: string): boolean => resource.endsWith(TOKEN_ENDING);

/** The integration behind a Resource: it is the Resource itself, or one for all functions that are named by their ARN. */
export const integrationName = (resource: string): string =>
  resource.replace(/^(arn:[^:]+:lambda):[^:]+:\d{12}:function:[^:]+(:[^:]+)?$/, '$1:::function');

/** The integration for functions that a Resource names by their ARN. */
export const FUNCTION = 'arn:aws:lambda:::function';
