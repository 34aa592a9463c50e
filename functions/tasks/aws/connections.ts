/** A worker that serves many requests at once makes as many calls at once. The default is 50 sockets per service. */
const agent = { maxSockets: Number.POSITIVE_INFINITY };

/**
 * How requests to AWS connect; each service adds its `requestTimeout`. `connectionTimeout`, in ms, counts from the call. It
 * includes the wait for a socket, and pauses in which JavaScript keeps the worker from seeing the connection. From
 * 2,000 on the handler checks the socket once after a second, so one such pause of any length is no TimeoutError.
 */
export const connections = {
  connectionTimeout: 2_000,
  throwOnRequestTimeout: true,
  httpAgent: agent,
  httpsAgent: agent,
} as const;
