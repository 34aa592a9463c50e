/**
 * Stands in for the SDK's credential provider chain in the endpoint's bundle: in Lambda, credentials are always in
 * the environment, and the chain's other links are some 100 KB and 10 ms of every cold start.
 */
export const defaultProvider = () => async () => ({
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? '',
  ...(process.env.AWS_SESSION_TOKEN !== undefined && { sessionToken: process.env.AWS_SESSION_TOKEN }),
});
