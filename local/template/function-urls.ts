import type { FunctionUrl } from '../lambda/function-urls.ts';
import { functionUrl } from './identity.ts';
import { about, type ResolvedStack, type Resource } from './resources.ts';
import { unknownValue } from './specs.ts';

/** The function URLs of the template. Throws a ResourceError for one that is not known here. */
export function readFunctionUrls(stacks: readonly ResolvedStack[]): readonly FunctionUrl[] {
  const resources = stacks.flatMap((stack) => stack.resources.filter(({ type }) => type === 'AWS::Lambda::Url'));
  return resources.map((resource) => about(resource, () => readOne(resource)));
}

/** A URL without authorization has a policy that lets all call it, which CDK makes: it is not checked here. */
function readOne(resource: Resource): FunctionUrl {
  const { TargetFunctionArn, AuthType, InvokeMode = 'BUFFERED' } = resource.properties;
  if (AuthType !== 'NONE') throw unknownValue(resource, 'AuthType', AuthType);
  if (InvokeMode !== 'BUFFERED') throw unknownValue(resource, 'InvokeMode', InvokeMode);
  return { url: functionUrl(resource), functionName: String(TargetFunctionArn) };
}
