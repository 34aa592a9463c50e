import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type SFNClient, ValidateStateMachineDefinitionCommand } from '@aws-sdk/client-sfn';
import { definitions, expressDefinition } from './row.ts';

/** Below this, a few waiting clients use up what an account may run at once (docs/deploying.md, "Deploy"). */
const FEW = 100;

/** Reads the account, and changes nothing. Returns false if AWS finds a definition wrong. */
export async function lookAtAccount(sfn: SFNClient, region: string, print: (line: string) => void): Promise<boolean> {
  const lambda = new LambdaClient({ region });
  const concurrency = await lambda.send(new GetAccountSettingsCommand({})).then(
    ({ AccountLimit }) => AccountLimit?.ConcurrentExecutions,
    ({ name }: Error) => print(`not looked at: concurrent executions of Lambda (${name})`),
  );
  if (typeof concurrency === 'number') {
    const few = concurrency < FEW ? ': few, see docs/deploying.md, "Deploy"' : '';
    print(`Lambda runs ${concurrency} functions at once in ${region}${few}`);
  }
  let right = true;
  for (const [workflow, definition] of Object.entries({ ...definitions, express: expressDefinition })) {
    const type = workflow === 'express' ? 'EXPRESS' : 'STANDARD';
    const command = new ValidateStateMachineDefinitionCommand({ definition, type });
    const checked = await sfn.send(command).catch(({ name }: Error) => name);
    if (typeof checked === 'string') {
      print(`not looked at: the definition '${workflow}' (${checked})`);
      continue;
    }
    const found = (checked.diagnostics ?? []).map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
    right &&= checked.result === 'OK';
    print(`the definition '${workflow}': ${[checked.result, ...found].join('\n  ')}`);
  }
  return right;
}
