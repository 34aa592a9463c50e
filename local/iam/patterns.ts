type Pattern = (text: string) => boolean;

/** The wildcards `*` and `?` of IAM. */
export function like(pattern: string): Pattern {
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const whole = new RegExp(`^${escaped}$`, 's');
  return (text) => whole.test(text);
}

export function isLike(text: string, pattern: string): boolean {
  return like(pattern)(text);
}

/** Compares actions case-insensitively. */
export function isAction(action: string, pattern: string): boolean {
  return isLike(action.toLowerCase(), pattern.toLowerCase());
}

const PARTS = 6;

/** Compares ARNs part by part: a wildcard matches within its part. The last part may contain colons. */
export function arnLike(pattern: string): Pattern {
  if (pattern === '*') return () => true;
  const patterns = arnParts(pattern).map(like);
  if (patterns.length !== PARTS) return () => false;
  return (arn) => {
    const parts = arnParts(arn);
    return patterns.every((matches, index) => matches(parts[index] ?? ''));
  };
}

export function isArn(arn: string, pattern: string): boolean {
  return arnLike(pattern)(arn);
}

function arnParts(arn: string): string[] {
  const parts = arn.split(':');
  return parts.length < PARTS ? parts : [...parts.slice(0, PARTS - 1), parts.slice(PARTS - 1).join(':')];
}
