/** The wildcards `*` and `?` of IAM. */
export function isLike(text: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return text === pattern;
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${escaped}$`, 's').test(text);
}

/** Compares actions case-insensitively. */
export function isAction(action: string, pattern: string): boolean {
  return isLike(action.toLowerCase(), pattern.toLowerCase());
}

const PARTS = 6;

/** Compares ARNs part by part: a wildcard matches within its part. The last part may contain colons. */
export function isArn(arn: string, pattern: string): boolean {
  if (pattern === '*') return true;
  const [parts, patterns] = [arnParts(arn), arnParts(pattern)];
  return patterns.length === PARTS && patterns.every((part, index) => isLike(parts[index] ?? '', part));
}

function arnParts(arn: string): string[] {
  const parts = arn.split(':');
  return parts.length < PARTS ? parts : [...parts.slice(0, PARTS - 1), parts.slice(PARTS - 1).join(':')];
}
