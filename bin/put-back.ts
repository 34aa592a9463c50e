import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { exactNumber, putBack } from '../functions/operator/put-back.ts';

const USAGE = 'usage: mcp-task-server put-back <restored table> <table of the server>';

/** Runs `put-back`, with AWS credentials: see docs/recovery.md. Resolves with the exit code. */
export async function putBackCommand(args: readonly string[]): Promise<number> {
  const [restored, current, ...more] = args;
  if (restored === undefined || current === undefined || more.length > 0 || restored === current) {
    console.error(USAGE);
    return 2;
  }
  const db = DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 10 }), {
    unmarshallOptions: { wrapNumbers: exactNumber },
  });
  const { read, written, kept, expired, left } = await putBack(db, { restored, current }, Date.now());
  const others = `${kept} kept as they are now, ${expired} expired, ${left} of MCP Events left out`;
  console.log(`${read} items read: ${written} put back, ${others}`);
  return 0;
}
