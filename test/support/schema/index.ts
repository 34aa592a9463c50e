import { errorProblems, idProblems } from './errors.ts';
import { legacyResult } from './legacy.ts';
import { messageProblems } from './messages.ts';
import { modernResult } from './modern.ts';
import { type Era, fits, MODERN } from './published.ts';
import { isObject, lacks, members, type Sent, show } from './rules.ts';

export type { Era } from './published.ts';
export type { Sent } from './rules.ts';

/** Throws unless `answer`, a JSON-RPC result or error of the server, fits the schema of the revision for `method`. */
export function checkAnswer(era: Era, method: string, answer: unknown, sent: Sent = {}): void {
  complain(
    `answer to ${method || 'an unreadable message'} in ${era}`,
    answerProblems(era, method, answer, sent),
    answer,
  );
}

/** Throws unless the server may send this request or notification. @param sent the request that opened its stream */
export function checkMessage(era: Era, message: unknown, sent: Sent = {}): void {
  const problems = isObject(message) ? messageProblems(era, message, sent) : ['a message is an object'];
  complain(`${isObject(message) ? String(message.method) : 'message'} in ${era}`, problems, message);
}

function answerProblems(era: Era, method: string, answer: unknown, sent: Sent): string[] {
  if (!isObject(answer)) return ['an answer is an object'];
  const { error, result } = answer;
  const neither = lacks('answer', answer, 'method', ...(error === undefined ? [] : ['result']));
  if (error !== undefined) return [...neither, ...errorProblems(era, answer, sent)];
  return [
    ...neither,
    ...fits(era, 'JSONRPCResultResponse', answer),
    ...idProblems(answer, sent),
    ...(era === MODERN ? modernResult(method, members(result), sent) : legacyResult(method, members(result), sent)),
  ];
}

function complain(what: string, problems: readonly string[], value: unknown): void {
  if (problems.length === 0) return;
  const most = [...new Set(problems)].slice(0, 25).map((problem) => `\n  ${problem}`);
  throw new Error(`Not a valid ${what}:${most.join('')}\n  It was ${show(value)}`);
}
