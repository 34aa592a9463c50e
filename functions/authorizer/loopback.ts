import { FetchError, NonRetryableFetchError } from 'aws-jwt-verify/error';
import type { Fetcher } from 'aws-jwt-verify/https';

/** Fetches documents of an issuer on this machine, which needs no TLS. */
export const loopbackFetcher: Fetcher = {
  async fetch(uri) {
    try {
      const response = await fetch(uri, { redirect: 'manual', signal: AbortSignal.timeout(3_000) });
      if (response.status !== 200) throw new NonRetryableFetchError(uri, `Status code is ${response.status}`);
      return await response.arrayBuffer();
    } catch (error) {
      if (error instanceof NonRetryableFetchError) throw error;
      // The cause says more than "fetch failed".
      throw new FetchError(uri, (error as Error).cause ?? error);
    }
  },
};
