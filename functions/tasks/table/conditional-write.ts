import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';

/** What a conditional write answers; undefined when its condition did not hold. */
export async function ifConditionHolds<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
