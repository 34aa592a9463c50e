import { createHash } from 'node:crypto';

export type Random = ReturnType<typeof createRandom>;

/** Makes a sequence of random numbers that follows from a seed. */
export function createRandom(seed: string) {
  let drawn = 0;
  const draw = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest();
  };
  return {
    /** A number from 0 to just below 1. */
    number: () => draw().readUIntBE(0, 6) / 2 ** 48,
    uuid() {
      const hex = draw().toString('hex');
      const variant = ((Number.parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
      return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, `$1-$2-4$3-${variant}$4-$5`);
    },
  };
}
