/** Logs which function got which event, and fails if the event says so. */
export const handler = async (event: { fail?: boolean }) => {
  console.log(`${process.env.NAME} ${JSON.stringify(event)}`);
  if (event.fail) throw new TypeError('on purpose');
  return 'heard';
};
