import type { PassThrough } from 'node:stream';

/** What API Gateway hands over, as far as the benchmark uses it. */
export interface HttpEvent {
  readonly body: string;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[]>>;
}

/** A handler that streams one text as its answer, as Lambda calls it. */
export const answered =
  (answer: (event: HttpEvent) => Promise<string>) =>
  async (event: HttpEvent, stream: PassThrough): Promise<void> => {
    stream.end(await answer(event));
  };
