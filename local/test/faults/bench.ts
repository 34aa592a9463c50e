import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Cloud, type CloudOptions, startCloud } from '../../cloud.ts';
import { synthApp } from '../../template/synth.ts';
import { clientConfig, temporaryDir } from '../fixture.ts';

/** A cloud of ./app.ts for one test file, and the clients of AWS to it. */
export function useFaultyCloud(options: Partial<CloudOptions> = {}) {
  let cloud: Cloud | undefined;
  const lines: string[] = [];
  beforeAll(async () => {
    const assembly = temporaryDir();
    await synthApp('local/test/faults/app.ts', assembly);
    const onLog = (_source: string, line: string) => lines.push(line);
    cloud = await startCloud({ assembly, recordCalls: true, onLog, ...options });
  });
  afterEach(() => cloud?.faults.clear());
  afterAll(() => cloud?.stop());
  const current = () => {
    if (cloud === undefined) throw new Error('The cloud is not up yet');
    return cloud;
  };

  return {
    cloud: current,
    faults: () => current().faults,
    /** How often a function has logged this. */
    said: (line: string) => lines.filter((said) => said.endsWith(line)).length,
    lines,
    ...clientsOf(current),
  };
}

function clientsOf(cloud: () => Cloud) {
  const once = () => ({ ...clientConfig(cloud()), maxAttempts: 1 });
  const table = () => cloud().outputs.TableName;
  const item = (id: string) => ({ TableName: table(), Key: { id: { S: id } } });
  const sfn = () => new SFNClient(once());
  return {
    once,
    item: async (id: string) => (await new DynamoDBClient(once()).send(new GetItemCommand(item(id)))).Item,
    /** @param attempts the client's `maxAttempts` */
    put: (id: string, { attempts = 1, condition = '' } = {}) =>
      new DynamoDBClient({ ...once(), maxAttempts: attempts }).send(
        new PutItemCommand({
          TableName: table(),
          Item: { id: { S: id } },
          ...(condition !== '' && { ConditionExpression: condition }),
        }),
      ),
    secret: () =>
      new SecretsManagerClient(once()).send(new GetSecretValueCommand({ SecretId: cloud().outputs.SecretArn })),
    /** The answer of the writer. */
    async write(event: { id: string; ms?: number }) {
      const command = new InvokeCommand({ FunctionName: cloud().outputs.WriterName, Payload: JSON.stringify(event) });
      const { Payload, FunctionError } = await new LambdaClient(once()).send(command);
      const answer = JSON.parse(Buffer.from(Payload ?? []).toString());
      if (FunctionError !== undefined) throw new Error(answer.errorMessage, { cause: answer });
      return answer as { worker: string; clocks: number[]; plain: unknown[]; left: number };
    },
    start: (name: string, input: object) =>
      sfn().send(
        new StartExecutionCommand({ stateMachineArn: cloud().outputs.MachineArn, name, input: JSON.stringify(input) }),
      ),
    /** Runs the machine to its end. */
    async run(name: string) {
      const input = JSON.stringify({ id: name });
      const begin = new StartExecutionCommand({ stateMachineArn: cloud().outputs.MachineArn, name, input });
      const { executionArn = '' } = await sfn().send(begin);
      await cloud().stepFunctions.closed(executionArn);
      const { status, error, stopDate } = await sfn().send(new DescribeExecutionCommand({ executionArn }));
      return { status, error, stopDate };
    },
  };
}
