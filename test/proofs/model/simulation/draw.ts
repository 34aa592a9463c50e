/** A number from 0 to below `n`. */
export type Draw = (n: number) => number;

/** Choices that follow from one number, as its digits in the mixed radix of what is asked. The choices of 0 are all 0. */
export function drawFrom(number: number): Draw {
  let rest = number;
  return (n) => {
    const digit = rest % n;
    rest = Math.floor(rest / n);
    return digit;
  };
}

/** The tamest choices: the first in line, no faults. */
export const tame: Draw = () => 0;
