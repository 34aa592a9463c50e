/** Whether a request is signed in its query, as a presigned URL is. */
export const isPresigned = (path: string): boolean => /[?&]X-Amz-(Algorithm|Signature|Credential)=/.test(path);

/** Who signed a presigned URL: an access key. Undefined if it does not say so. */
export function signerOf(path: string): string | undefined {
  return new URLSearchParams(path.split('?')[1]).get('X-Amz-Credential')?.split('/')[0];
}
