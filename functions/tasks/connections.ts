/** A worker that serves many requests at once has as many calls under way. By default a client has 50 sockets. */
const agent = { maxSockets: Number.POSITIVE_INFINITY };

/**
 * How clients of AWS connect; each adds its `requestTimeout`. `connectionTimeout`, in ms, counts from the call: also
 * while the call waits for a socket, and while JavaScript keeps the worker from seeing that the connection is there.
 * From 2,000 on the handler takes one look at the socket after a second, so one such pause, however long, is no
 * TimeoutError.
 */
export const connections = {
  connectionTimeout: 2_000,
  throwOnRequestTimeout: true,
  httpAgent: agent,
  httpsAgent: agent,
} as const;
