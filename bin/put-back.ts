import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { exactNumber, putBack } from '../functions/operator/put-back.ts';

/** `npm run put-back -- <restored table> <table of the server>`, with AWS credentials: see docs/recovery.md. */
const [restored, current, ...more] = process.argv.slice(2);
if (restored === undefined || current === undefined || more.length > 0 || restored === current) {
  console.error('Usage: npm run put-back -- <restored table> <table of the server>');
  process.exit(2);
}

const db = DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 10 }), {
  unmarshallOptions: { wrapNumbers: exactNumber },
});
const { read, written, kept, expired } = await putBack(db, { restored, current }, Date.now());
console.log(`${read} items read: ${written} put back, ${kept} kept as they are now, ${expired} expired`);
