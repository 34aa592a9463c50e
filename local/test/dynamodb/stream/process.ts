import { writeSync } from 'node:fs';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { keyOf, startStreamed, TableName } from './streamed.ts';

/** A cloud in its own process, and a client that writes until the process is killed. Prints each write with its answer. */
const [assembly = '', dataDir = '', FILE = '', fault = ''] = process.argv.slice(2);
const { cloud, client } = await startStreamed(assembly, { dataDir, mortal: true, variables: { FILE } });

const WRITERS = 4;
const ITEMS = 10;
/** The write after which the planted fault may strike. */
const ARMED = 40;
let writes = 0;

async function write(writer: number): Promise<void> {
  for (;;) {
    const id = `${writer}-${writes++ % ITEMS}`;
    if (fault !== '' && writes === ARMED) cloud.faults.add(JSON.parse(fault));
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName,
        Key: keyOf(id, String(writer)),
        UpdateExpression: 'ADD tally :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
        ReturnValues: 'ALL_NEW',
      }),
    );
    writeSync(1, `${JSON.stringify(Attributes)}\n`);
  }
}
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
