import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import type { FaultService } from '../faults/index.ts';
import type { WireResponse } from './types.ts';

/** A value of an answer in XML. A list becomes `<member>` elements. */
export type XmlValue = string | number | undefined | readonly XmlValue[] | { readonly [name: string]: XmlValue };

/** The operations of a service that speaks the AWS query protocol: forms in, XML out. */
export type QueryOperations = Readonly<
  Record<string, (input: Readonly<Record<string, string>>, caller: string) => { readonly [name: string]: XmlValue }>
>;

export interface QueryService {
  /** The name of the service in signatures and in the call log. */
  readonly name: FaultService;
  readonly operations: QueryOperations;
}

/** The fields of a form: `Action` is the operation. */
export const readForm = (body: Buffer): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(body.toString()));

export function answerQuery(
  { name, operations }: QueryService,
  form: Record<string, string>,
  caller: string,
): WireResponse {
  const { Action = '', ...input } = form;
  const run = Object.hasOwn(operations, Action) ? operations[Action] : undefined;
  if (run === undefined) throw new AwsError('InvalidAction', `${name} does not know ${Action} here`);
  const content = `<${Action}Result>${xml(run(input, caller))}</${Action}Result>`;
  const metadata = `<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata>`;
  return answer(200, `<${Action}Response>${content}${metadata}</${Action}Response>`);
}

export function refuseQuery({ type, message, status }: AwsError): WireResponse {
  const error = xml({ Error: { Type: status < 500 ? 'Sender' : 'Receiver', Code: type, Message: message } });
  return { ...answer(status, `<ErrorResponse>${error}</ErrorResponse>`), error: type };
}

const answer = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body,
});

function xml(value: XmlValue): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map((one) => `<member>${xml(one)}</member>`).join('');
  if (typeof value !== 'object') return escaped(String(value));
  return Object.entries(value)
    .map(([name, inner]) => (inner === undefined ? '' : `<${name}>${xml(inner)}</${name}>`))
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
