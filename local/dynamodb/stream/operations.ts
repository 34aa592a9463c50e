import { AwsError } from '../../aws-error.ts';
import { objectOf } from '../../json.ts';
import { VIEW_TYPES } from '../../template/specs.ts';
import type { Operations } from '../../wire/types.ts';
import type { Engine } from '../engine.ts';
import type { Streams } from './index.ts';

/**
 * The operations on tables that dynalite knows without streams: `UpdateTable` switches a stream on, `DescribeTable` names it.
 * What is switched on by a client does not outlive the process.
 */
export function streamOperations(engine: Engine, streams: Pick<Streams, 'streamOf' | 'enable'>): Operations {
  const describe = async (TableName: unknown) => {
    const { Table } = await engine.call('DescribeTable', { TableName });
    const stream = streams.streamOf(String(TableName));
    const facts = stream && {
      LatestStreamArn: stream.arn,
      LatestStreamLabel: stream.arn.split('/').at(-1),
      StreamSpecification: { StreamEnabled: true, StreamViewType: stream.viewType },
    };
    return { ...objectOf(Table), ...facts };
  };
  return {
    DescribeTable: async ({ TableName }) => ({ Table: await describe(TableName) }),
    async UpdateTable({ TableName, StreamSpecification, DeletionProtectionEnabled: _, ...others }) {
      if (StreamSpecification === undefined && Object.keys(others).length > 0) {
        return engine.call('UpdateTable', { TableName, ...others });
      }
      await describe(TableName);
      if (StreamSpecification !== undefined) {
        const { StreamEnabled, StreamViewType } = objectOf(StreamSpecification);
        const viewType = VIEW_TYPES.find((one) => one === StreamViewType);
        if (StreamEnabled !== true || viewType === undefined || Object.keys(others).length > 0) {
          throw new AwsError('ValidationException', 'here a stream is switched on by a call with nothing else');
        }
        streams.enable(String(TableName), viewType);
      }
      return { TableDescription: await describe(TableName) };
    },
  };
}
