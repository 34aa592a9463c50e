import type { Received } from '../engine/receive.ts';
import { limits } from '../tasks/limits.ts';
import { answerProblem, formProblems } from '../tasks/questions/answer-problem.ts';
import { isObject } from '../tasks/shape.ts';
import type { InputRequest, Signal } from '../tasks/tool-contract.ts';
import { jsonOf } from './body.ts';
import type { SignalReply, SignalRequest, SignalsContext } from './context.ts';
import { type Found, overWith, received, store } from './found.ts';
import { answerOfForm, type FormAnswer } from './page/answer-of-form.ts';
import type { Problems } from './page/fields.ts';
import { answeredPage, overPage, questionPage } from './page/pages.ts';
import { FORM, htmlReply, Refused, typeOf } from './reply.ts';
import type { LinkWait } from './wait.ts';

export type FoundLink = Found & { readonly wait: LinkWait };

/** The page of a link. It changes nothing: programs that scan mails follow links, too. */
export function showLink(link: FoundLink, { shown }: SignalsContext): SignalReply {
  const { record, wait, signal, over } = link;
  const about = { ...shown, tool: record.tool, wait };
  if (signal !== undefined && 'action' in signal) return htmlReply(410, answeredPage(about, signal));
  return over || signal !== undefined ? htmlReply(410, overPage(about)) : htmlReply(200, questionPage(about));
}

/** Answers the POST of the page's form, or of JSON with the members `action`, `content` and `by`. */
export async function answerLink(
  request: SignalRequest,
  link: FoundLink,
  context: SignalsContext,
): Promise<SignalReply> {
  const isForm = typeOf(request) === FORM;
  const { question } = link.wait;
  const about = { ...context.shown, tool: link.record.tool, wait: link.wait };
  const late = ({ signal }: { readonly signal?: Signal }): SignalReply => {
    if (!isForm) throw overWith(signal);
    return showLink({ ...link, ...(signal && { signal }), over: true }, context);
  };
  let given: FormAnswer;
  let problems: Problems | undefined;
  try {
    given = isForm ? answerOfForm(request.body, question) : answerOfJson(request);
    problems = problemsOf(question, given.answer);
  } catch (error) {
    if (link.over || link.signal !== undefined) return late(link);
    throw error;
  }
  if ((link.over && link.signal === undefined) || (problems && link.signal !== undefined)) return late(link);
  if (problems !== undefined) {
    if (isForm) return htmlReply(422, questionPage(about, { typed: given.typed, problems }));
    throw new Refused(422, 'The answer does not fit the question', { fields: byMember(problems) });
  }
  const { answer } = given;
  const stored: Received | undefined = await store(link, (at) => ({ ...answer, at }), context);
  if (stored?.outcome !== 'stored') return late(stored ?? {});
  const { signal } = stored;
  return isForm && 'action' in signal ? htmlReply(200, answeredPage(about, signal)) : received(signal);
}

function answerOfJson(request: SignalRequest): FormAnswer {
  const value = jsonOf(request);
  if (!isObject(value)) throw new Refused(400, 'The body is an object with the members action, content and by');
  const { action, content, by } = value;
  const answer = {
    action: action as FormAnswer['answer']['action'],
    // Tools read the content of each answer that accepts.
    ...(action === 'accept' && { content: isObject(content) ? content : {} }),
    ...(by !== undefined && by !== '' && { by: by as string }),
  };
  if (action === 'accept' && content !== undefined && !isObject(content)) {
    throw new Refused(422, 'The answer does not fit the question', { fields: { content: 'must be an object' } });
  }
  return { answer, typed: new Map() };
}

function problemsOf(question: InputRequest, answer: FormAnswer['answer']): Problems | undefined {
  const { action, by, content = {} } = answer;
  const form = question.params?.requestedSchema;
  const ofForm = action === 'accept' && isObject(form) ? [...formProblems(form, content, () => 'This')] : [];
  // The first problem of a field says most.
  const fields = Object.fromEntries(ofForm.reverse());
  const isName = by === undefined || (typeof by === 'string' && [...by].length <= limits.signal.by);
  const wrong = ofForm.length === 0 ? answerProblem(question, answer) : undefined;
  if (ofForm.length === 0 && isName && wrong === undefined) return undefined;
  return {
    fields,
    ...(!isName && { by: `A name has ${limits.signal.by} characters at most` }),
    ...(wrong !== undefined && { answer: wrong }),
  };
}

/** What is wrong, by member of the body. */
const byMember = ({ fields, by, answer }: Problems): Readonly<Record<string, string>> => ({
  ...fields,
  ...(by !== undefined && { by }),
  ...(answer !== undefined && { action: answer }),
});
