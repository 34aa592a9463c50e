import type { OperatorContext } from '../../../../functions/operator/context.ts';
import type { DynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { eventItems } from '../../../../functions/tasks/table/events/items.ts';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import type { NewSubscription } from '../../../../functions/tasks/table/events/subscription.ts';
import { operatorEvents } from '../../../../functions/tasks/table/operators/events.ts';
import { TABLE } from '../../../support/engine/memory.ts';
import { MINUTE, operatorOn, T0, task } from '../operators.ts';

/** One that wants each end of a task, made at T0, for an hour. */
export const SUBSCRIPTION: NewSubscription = {
  ...{ id: 'sub_1', name: 'task.finished', arguments: {}, scopes: [], url: 'u', secrets: [], truncated: false },
  ...{ createdAt: T0, endpoint: '', refreshBefore: T0 + 60 * MINUTE, expiresAt: 1, started: positionText(0) },
  ...{ deliveredTo: positionText(0), lastMatched: positionText(0) },
};

/** A server with MCP Events, and the queries of its table. */
export function eventsOperator(record: TaskRecord = task({ status: 'completed' })) {
  const operator = operatorOn([record]);
  const { dynamoDb, audited } = operator;
  const asked: Parameters<DynamoDb['query']>[0][] = [];
  const query: DynamoDb['query'] = (input) => {
    asked.push(input);
    return dynamoDb.query(input);
  };
  const { server } = operator.context;
  const context: OperatorContext = {
    ...operator.context,
    server: { ...server, logGroups: { deliveries: 'log' } },
    events: operatorEvents({ ...dynamoDb, query }, TABLE),
  };
  /** What the sort keys of the items began with that were asked for. */
  const prefixes = () => asked.map(({ ExpressionAttributeValues: values }) => values?.[':prefix']);
  return { items: eventItems(dynamoDb, TABLE), context, asked, prefixes, audited };
}
