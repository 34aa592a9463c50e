import { createHash } from 'node:crypto';

/** A sequence of random numbers that follows from a seed. */
export interface Random {
  /** A number from 0 to just below 1. */
  number(): number;
  uuid(): string;
}

export function createRandom(seed: string): Random {
  let drawn = 0;
  const draw = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest();
  };
  return {
    number: () => draw().readUIntBE(0, 6) / 2 ** 48,
    uuid() {
      const hex = draw().toString('hex');
      const variant = ((Number.parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        variant + hex.slice(17, 20),
        hex.slice(20, 32),
      ].join('-');
    },
  };
}
