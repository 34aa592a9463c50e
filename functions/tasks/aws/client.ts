/** What a caller may say of a client. Operators and tests give all of it. */
export interface ClientOptions {
  /** The timeout of one attempt, in ms. */
  readonly requestTimeout: number;
  /** At most. */
  readonly attempts: number;
  /** @default AWS_REGION */
  readonly region?: string;
  /** @default what the environment says, as for all AWS clients */
  readonly endpoint?: string;
  /** @default the credentials of the environment, where Lambda has them */
  readonly credentials?: () => Promise<Credentials>;
  /**
   * Whether a connection is kept for the next request. A kept one may be dead: Lambda freezes a container between requests.
   * @default true: another attempt takes a new connection
   */
  readonly keepAlive?: boolean;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A worker that serves many requests at once makes as many calls at once. The default is 50 sockets per service. */
const maxSockets = Number.POSITIVE_INFINITY;

/**
 * How requests to AWS connect. `connectionTimeout`, in ms, counts from the call. It includes the wait for a socket, and
 * pauses in which JavaScript keeps the worker from seeing the connection. From 2,000 on the handler checks the socket once
 * after a second, so one such pause of any length does not end in a TimeoutError.
 */
const connections = {
  connectionTimeout: 2_000,
  throwOnRequestTimeout: true,
} as const;

/**
 * The configuration of all AWS clients. What it names, they need not search for, which takes time of a cold start. So the
 * credentials come from one provider, too, not from the chain of the AWS SDK.
 */
export const clientConfig = ({
  requestTimeout,
  attempts,
  region = process.env.AWS_REGION ?? '',
  endpoint,
  credentials = ofEnvironment,
  keepAlive = true,
}: ClientOptions) => ({
  region,
  credentials,
  ...(endpoint !== undefined && { endpoint }),
  maxAttempts: attempts,
  retryMode: 'standard',
  defaultsMode: 'legacy' as const,
  useFipsEndpoint: process.env.AWS_USE_FIPS_ENDPOINT === 'true',
  useDualstackEndpoint: process.env.AWS_USE_DUALSTACK_ENDPOINT === 'true',
  // The second timeout is for an answer whose body stops.
  requestHandler: {
    ...connections,
    requestTimeout,
    socketTimeout: requestTimeout,
    httpAgent: { keepAlive, maxSockets },
    httpsAgent: { keepAlive, maxSockets },
  },
});

async function ofEnvironment(): Promise<Credentials> {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN } = process.env;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

/** What an error of an AWS client is known by. After more than one attempt, an earlier one may have been carried out. */
export interface AwsFailure extends Error {
  /** Of Node, such as `ECONNREFUSED`. */
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string; readonly attempts?: number };
}

/** Errors of DynamoDB and S3 that pass, though their HTTP status is 400 ("Error handling with DynamoDB", "Error responses" of S3). */
const PASSING = [
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'ThrottlingException',
];

/** Whether a call of AWS failed by an outage or a throttle, so that the same call may go through a moment later. */
export function isPassing(error: unknown): boolean {
  const { name = '', code = name, $metadata } = error as Partial<AwsFailure>;
  // A call that got no answer has no status. An error that is not of a call has no metadata.
  return $metadata !== undefined && (($metadata.httpStatusCode ?? 500) >= 500 || PASSING.includes(code));
}

type Middleware = <Args, Answer>(
  next: (args: Args) => Promise<Answer>,
  context: { readonly clientName?: string; readonly commandName?: string },
) => (args: Args) => Promise<Answer>;

interface Client {
  readonly middlewareStack: { add(middleware: Middleware, options: typeof outermost): void };
}

/**
 * Queries of an index that DynamoDB still fills fail with a ValidationException, which has no name of its own: "Cannot read from
 * backfilling global secondary index".
 */
export const BACKFILLING = 'IndexBackfilling';
const nameOf = ({ name, message }: AwsFailure): string =>
  /backfilling global secondary index/i.test(message) ? BACKFILLING : name;

const outermost = { step: 'initialize', priority: 'high', name: 'quiet' } as const;

/** The same client, whose errors have a name, a code and metadata, but never a message of AWS: it quotes names and inputs. */
export function quiet<C extends Client>(client: C): C {
  client.middlewareStack.add(
    (next, { clientName, commandName }) =>
      (args) =>
        next(args).catch((thrown: AwsFailure) => {
          const { code, $metadata } = thrown;
          const error = new Error(`${clientName} failed at ${commandName}`);
          throw Object.assign(error, {
            name: nameOf(thrown),
            ...(code !== undefined && { code }),
            ...($metadata && { $metadata }),
          });
        }),
    outermost,
  );
  return client;
}
