/** `*` and `?`, as IAM has them. */
export function isLike(text: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return text === pattern;
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${escaped}$`, 's').test(text);
}

/** Actions are compared without regard to case. */
export function isAction(action: string, pattern: string): boolean {
  return isLike(action.toLowerCase(), pattern.toLowerCase());
}

const PARTS = 6;

/** Part by part, so that a wildcard stays in its own; the last part may have colons of its own. */
export function isArn(arn: string, pattern: string): boolean {
  if (pattern === '*') return true;
  const [parts, patterns] = [arnParts(arn), arnParts(pattern)];
  return patterns.length === PARTS && patterns.every((part, index) => isLike(parts[index] ?? '', part));
}

function arnParts(arn: string): string[] {
  const parts = arn.split(':');
  return parts.length < PARTS ? parts : [...parts.slice(0, PARTS - 1), parts.slice(PARTS - 1).join(':')];
}
