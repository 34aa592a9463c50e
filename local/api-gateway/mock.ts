import { listOf, objectOf, stringOf } from '../json.ts';
import type { Resource } from '../template/resources.ts';
import { unknownValue } from '../template/resources.ts';

export interface MockAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HEADER = 'method.response.header.';

/** Reads a MOCK integration with one answer of plain text: mapping templates are not run. */
export function readMock(resource: Resource): MockAnswer {
  const { Integration, MethodResponses } = resource.properties;
  const { RequestTemplates, IntegrationResponses } = objectOf(Integration);
  const request = stringOf(objectOf(RequestTemplates)['application/json']) ?? '';
  const [answer, ...others] = listOf(IntegrationResponses).map(objectOf);
  if (!/^\s*\{\s*"?statusCode"?\s*:\s*\d{3}\s*\}\s*$/.test(request)) {
    throw unknownValue(resource, 'Integration.RequestTemplates', RequestTemplates);
  }
  if (answer === undefined || others.length > 0 || answer.SelectionPattern !== undefined) {
    throw unknownValue(resource, 'Integration.IntegrationResponses', IntegrationResponses);
  }
  const { StatusCode, ResponseParameters, ResponseTemplates } = answer;
  const declared = listOf(MethodResponses)
    .map(objectOf)
    .find((response) => String(response.StatusCode) === String(StatusCode));
  // AWS too refuses what the method does not declare.
  if (declared === undefined) throw unknownValue(resource, 'MethodResponses', MethodResponses);
  const headers = Object.entries(objectOf(ResponseParameters)).map(([name, value]): [string, string] => {
    const literal = /^'(.*)'$/.exec(String(value))?.[1];
    if (!name.startsWith(HEADER) || literal === undefined || !(name in objectOf(declared.ResponseParameters))) {
      throw unknownValue(resource, name, value);
    }
    return [name.slice(HEADER.length).toLowerCase(), literal];
  });
  const body = stringOf(objectOf(ResponseTemplates)['application/json']) ?? '';
  if (/[$#]/.test(body)) throw unknownValue(resource, 'ResponseTemplates', body);
  return {
    status: Number(StatusCode),
    headers: { 'content-type': 'application/json', ...Object.fromEntries(headers) },
    body,
  };
}
