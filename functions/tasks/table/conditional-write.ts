/** The answer of a conditional write. Undefined when its condition does not hold. */
export async function ifConditionHolds<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if ((error as Error).name === 'ConditionalCheckFailedException') return undefined;
    throw error;
  }
}
