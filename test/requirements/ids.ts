const ID = '[A-Z]-[0-9]{2}';
// Letters, digits and dashes around it make it part of something else, as in UTF-16 or 2025-11-25.
const CITED = new RegExp(`(?<![\\w-])(${ID})(?: to (${ID}))?(?![\\w-])`, 'g');

/** The requirement ids a text cites: single ones, lists, and ranges such as `B-01 to B-04`. */
export function idsIn(text: string): readonly string[] {
  return [...text.matchAll(CITED)].flatMap(([cited, first = '', last]) => {
    return last === undefined ? [first] : (range(first, last) ?? [cited]);
  });
}

/** Undefined for a range that cannot be meant: its text then stands as an unknown id, and is reported. */
function range(first: string, last: string): readonly string[] | undefined {
  const [from, to] = [numberOf(first), numberOf(last)];
  if (first[0] !== last[0] || to < from) return undefined;
  return Array.from({ length: to - from + 1 }, (_, step) => `${first[0]}-${String(from + step).padStart(2, '0')}`);
}

const numberOf = (id: string): number => Number(id.slice(2));
