/** A line of docs/performance.md. */
export interface Row {
  readonly what: string;
  /** With its unit. */
  readonly measured: string;
  /** To the row named in `to`: the median of the ratios of single pairs. */
  readonly ratio?: Ratio & { readonly to: string };
}

export interface Ratio {
  readonly median: number;
  /** The 10th and the 90th percentile of the ratios. */
  readonly low: number;
  readonly high: number;
  readonly pairs: number;
}

/** A part of the benchmark. */
export interface Arm {
  readonly title: string;
  /** What is measured, and against what: one paragraph. */
  readonly about: string;
  /** Rows, or why there are none on this machine. */
  run(): Promise<readonly Row[] | { readonly skipped: string }>;
}
