/** Something about the input the caller can put right: shown to them as it is, as a result with `isError`. */
export class InputProblem extends Error {
  override readonly name = 'InputProblem';
}

/** The task is no longer ours to work on (cancelled or superseded): nobody reads what we return. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}
