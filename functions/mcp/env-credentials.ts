/**
 * Replaces the SDK's credential provider chain in the bundles. In Lambda, credentials are always in the environment.
 * The other links of the chain would add some 100 KB, and 10 ms to every cold start.
 */
export const defaultProvider = () => async () => ({
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? '',
  ...(process.env.AWS_SESSION_TOKEN !== undefined && { sessionToken: process.env.AWS_SESSION_TOKEN }),
});
