/** A mutant that no test kills, and why that is right. */
export interface Survivor {
  readonly file: string;
  /** What the code says, with each white space as one blank; and what the mutant says instead. */
  readonly from: string;
  readonly to: string;
  readonly why: string;
}
