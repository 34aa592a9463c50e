/** Answers the machine with its work done, and API Gateway with a page. */
export const handler = async (event: { id?: string }) => {
  console.log('working');
  if (event.id === undefined) return { statusCode: 200, body: 'plain' };
  return { id: event.id, answer: `done ${event.id}` };
};
