/** An error as an AWS service answers it: `type` goes over the wire as `__type`, `status` is the HTTP status. */
export class AwsError extends Error {
  readonly type: string;
  readonly status: number;
  /** What S3 says in further elements of its error. */
  readonly details: Readonly<Record<string, string | number>>;

  constructor(type: string, message: string, status = 400, details: Readonly<Record<string, string | number>> = {}) {
    super(message);
    this.name = type;
    this.type = type;
    this.status = status;
    this.details = details;
  }
}
