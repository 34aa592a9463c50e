import type { QueryService } from '../wire/query.ts';

/** STS: only the operation that names the caller. @param userOf the ARN of the user or session behind an access key */
export function createSts(account: string, userOf: (accessKey: string) => string): QueryService {
  return {
    name: 'sts',
    operations: {
      GetCallerIdentity: (_input, caller) => ({ Arn: userOf(caller), UserId: caller, Account: account }),
    },
  };
}
