import { about, isFifo, type ResolvedStack, unknownValue } from '../template/resources.ts';

export interface TopicResource {
  readonly arn: string;
  readonly name: string;
}

/** The standard topics of SNS. Throws a ResourceError for one that is not known here. */
export function readTopics(stacks: readonly ResolvedStack[]): readonly TopicResource[] {
  const resources = stacks.flatMap((stack) => stack.resources.filter(({ type }) => type === 'AWS::SNS::Topic'));
  return resources.map((resource) =>
    about(resource, () => {
      const { properties, ref = '', name } = resource;
      if (isFifo({ FifoQueue: properties.FifoTopic })) throw unknownValue(resource, 'FifoTopic', properties.FifoTopic);
      return { arn: ref, name };
    }),
  );
}
