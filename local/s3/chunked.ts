import { AwsError } from '../aws-error.ts';

/** The least of each chunk but the last (error InvalidChunkSizeError, docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). */
const MIN_CHUNK_BYTES = 8_192;
/** A line with the size of a chunk, or a trailer with a checksum. No page of AWS names a limit. */
const MAX_LINE_BYTES = 1_024;

const malformed = () =>
  new AwsError('IncompleteBody', 'The request body terminated unexpectedly or is not in the form of aws-chunked');

type State = 'size' | 'data' | 'end of data' | 'trailer' | 'over';

/**
 * Decodes a body of `content-encoding: aws-chunked`.
 * @param onTrailer gets each header behind the last chunk
 */
export async function* unchunked(
  body: AsyncIterable<Buffer>,
  onTrailer: (name: string, value: string) => void,
): AsyncGenerator<Buffer> {
  let line = '';
  let left = 0;
  let last = Number.POSITIVE_INFINITY;
  const afterLine = (before: State, text: string): State => {
    if (before === 'end of data') {
      if (text !== '') throw malformed();
      return 'size';
    }
    if (before === 'size') {
      if (!/^[\da-f]{1,10}$/i.test(text)) throw malformed();
      left = Number.parseInt(text, 16);
      if (left > 0 && last < MIN_CHUNK_BYTES) {
        const message = 'Only the last chunk is allowed to have a size less than 8192 bytes';
        throw new AwsError('InvalidChunkSizeError', message, 403);
      }
      last = left;
      return left === 0 ? 'trailer' : 'data';
    }
    if (text === '') return 'over';
    const [name = '', ...value] = text.split(':');
    onTrailer(name.trim().toLowerCase(), value.join(':').trim());
    return 'trailer';
  };
  let state: State = 'size';

  for await (const piece of body) {
    let at = 0;
    while (at < piece.length && state !== 'over') {
      if (state === 'data') {
        const end = Math.min(piece.length, at + left);
        yield piece.subarray(at, end);
        left -= end - at;
        at = end;
        if (left === 0) state = 'end of data';
        continue;
      }
      const newline = piece.indexOf('\n', at);
      const end = newline === -1 ? piece.length : newline;
      line += piece.toString('latin1', at, end);
      if (line.length > MAX_LINE_BYTES) throw malformed();
      at = end + 1;
      if (newline === -1) continue;
      state = afterLine(state, line.replace(/\r$/, ''));
      line = '';
    }
  }
  // The empty line behind the trailers may be missing, as some clients leave it out.
  if (state !== 'over' && !(state === 'trailer' && line === '')) throw malformed();
}
