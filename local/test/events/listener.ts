/** Says which function heard which event, and fails when it is asked to. */
export const handler = async (event: { fail?: boolean }) => {
  console.log(`${process.env.NAME} ${JSON.stringify(event)}`);
  if (event.fail) throw new TypeError('on purpose');
  return 'heard';
};
