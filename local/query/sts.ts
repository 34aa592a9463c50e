import type { QueryService } from '../wire/query.ts';

/** STS, as far as it says who calls. @param userOf the ARN of the user or the session behind an access key */
export function createSts(account: string, userOf: (accessKey: string) => string): QueryService {
  return {
    name: 'sts',
    operations: {
      GetCallerIdentity: (_input, caller) => ({ Arn: userOf(caller), UserId: caller, Account: account }),
    },
  };
}
