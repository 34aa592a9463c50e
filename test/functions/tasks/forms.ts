import { answerProblem } from '../../../functions/tasks/questions/answer-problem.ts';

export type Json = Record<string, unknown>;

export const asks = (requestedSchema: unknown, mode?: string) => ({
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema, ...(mode !== undefined && { mode }) },
});
export const accept = (content?: unknown) => ({ action: 'accept', ...(content !== undefined && { content }) });
export const formOf = (properties: unknown, required?: unknown) => ({ type: 'object', properties, required });
/** The verdict on the value of the only field, `f`. */
export const verdict = (field: unknown, value: unknown) =>
  answerProblem(asks(formOf({ f: field })), accept({ f: value }));
export const titled = (...values: unknown[]) => values.map((value) => ({ const: value, title: `Title of ${value}` }));
