import { Stack, Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** What cdk-nag's AwsSolutions finds in a server, and why it is as it is. */
const SERVER = {
  S1: 'Large results are read and written by the functions of this server only, which log what they do; they expire in days',
  APIG1: 'Logs of API Gateway need a role that is set for the whole account, which a construct must not change',
  APIG2: 'The endpoint validates: JSON-RPC errors have a form that API Gateway cannot give',
  APIG3:
    'A web ACL costs money: associate your own with the stage, and let its body rules count only, for they block text of models',
  APIG4: 'Who may call is for `auth` to say; anonymous access is chosen by name, and preflights carry no credentials',
  APIG6: 'As for access logs; and execution logs would hold what callers and tools say',
  COG4: 'Tokens of any issuer are checked by an authorizer of this server, where there is one',
  SQS3: 'It is the dead letter queue',
} as const;

const EVERYWHERE = 'X-Ray and log delivery have no resources that a policy could name';

/** Acknowledges the findings of a server that have a reason. */
export function acknowledgeServer(server: Construct): void {
  const rules = Object.entries(SERVER).map(([rule, reason]) => ({ id: `AwsSolutions-${rule}`, reason }));
  Validations.of(server).acknowledge(...rules, { id: 'AwsSolutions-IAM5[Resource::*]', reason: EVERYWHERE });
}

/** The same for a statement about all resources whose ARNs begin like this. */
export function acknowledgeWildcard(scope: Construct, arn: string, reason: string): void {
  const id = `AwsSolutions-IAM5[Resource::${flat(Stack.of(scope).resolve(arn))}]`;
  Validations.of(scope).acknowledge({ id, reason });
}

/** As cdk-nag writes what is known only when the stack is deployed. */
function flat(value: string | object): string {
  if (typeof value === 'string') return value;
  const [name, argument] = Object.entries(value)[0] ?? [];
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt') return `<${argument.join('.')}>`;
  if (name === 'Fn::Join') return argument[1].map(flat).join(argument[0]);
  return JSON.stringify(value);
}
