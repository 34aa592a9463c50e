import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { DeliveryError } from '../ports.ts';
import { errorOf, type PostOptions, postSigned, type SignedPost } from './post.ts';

const ANSWER_BYTES = 65_536;

/**
 * Asks a receiver whether it wants events: it has to send a random text back. Without this, a subscription would make the
 * server call any URL. Returns why it failed, and undefined if it did not.
 */
export async function challenge(
  { url, secret, subscriptionId }: Pick<SignedPost, 'url' | 'subscriptionId'> & { readonly secret: string },
  options: Omit<PostOptions, 'answerBytes'> = {},
): Promise<DeliveryError | undefined> {
  const nonce = randomBytes(32).toString('base64url');
  const answer = await postSigned(
    {
      url,
      subscriptionId,
      secrets: [secret],
      webhookId: `msg_verification_${randomBytes(16).toString('hex')}`,
      body: JSON.stringify({ type: 'verification', challenge: nonce }),
    },
    { ...options, answerBytes: ANSWER_BYTES },
  );
  const error = errorOf(answer);
  if (error !== undefined || 'error' in answer) return error;
  return repeats(answer.body, nonce) ? undefined : 'challenge_failed';
}

function repeats(body: string, nonce: string): boolean {
  try {
    const { challenge: given } = JSON.parse(body) as { readonly challenge?: unknown };
    const [a, b] = [Buffer.from(String(given)), Buffer.from(nonce)];
    return typeof given === 'string' && a.length === b.length && timingSafeEqual(a, b);
  } catch {
    return false;
  }
}
