import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Alarm, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { EventBus, Match, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction, SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';

/** Rules by schedule and by pattern, with the retries and queues of CDK. */
const stack = new Stack(new App(), 'Rules');

const undelivered = new Queue(stack, 'Undelivered', { retentionPeriod: Duration.days(14), enforceSSL: true });
const failures = new Queue(stack, 'Failures');
const listener = (name: string) =>
  new NodejsFunction(stack, name, {
    entry: 'local/test/events/listener.ts',
    runtime: Runtime.NODEJS_24_X,
    environment: { NAME: name },
    reservedConcurrentExecutions: 2,
    maxEventAge: Duration.hours(1),
    retryAttempts: 1,
    onFailure: new SqsDestination(failures),
  });
const retries = { deadLetterQueue: undelivered, retryAttempts: 2, maxEventAge: Duration.minutes(5) };

const machine = new StateMachine(stack, 'Machine', {
  definitionBody: DefinitionBody.fromString(
    JSON.stringify({
      QueryLanguage: 'JSONata',
      StartAt: 'Which',
      States: {
        Which: { Type: 'Choice', Choices: [{ Condition: '{% $states.input.fail %}', Next: 'Bad' }], Default: 'Good' },
        Good: { Type: 'Succeed' },
        Bad: { Type: 'Fail', Error: 'Broken', Cause: 'on purpose' },
      },
    }),
  ),
});

new Rule(stack, 'Tick', {
  schedule: Schedule.rate(Duration.minutes(1)),
  targets: [new LambdaFunction(listener('Ticker'), retries)],
});
new Rule(stack, 'Off', {
  enabled: false,
  schedule: Schedule.rate(Duration.minutes(1)),
  targets: [new LambdaFunction(listener('Sleeper'))],
});
new Rule(stack, 'Broken', {
  schedule: Schedule.rate(Duration.days(1)),
  targets: [new LambdaFunction(listener('Thrower'), { ...retries, event: RuleTargetInput.fromObject({ fail: true }) })],
});
new Rule(stack, 'Ended', {
  eventPattern: {
    source: ['aws.states'],
    detailType: ['Step Functions Execution Status Change'],
    detail: { stateMachineArn: Match.prefix(machine.stateMachineArn), status: ['FAILED', 'TIMED_OUT', 'ABORTED'] },
  },
  targets: [new LambdaFunction(listener('Watcher'), retries)],
});

const bus = new EventBus(stack, 'Bus');
const orders = new Queue(stack, 'Orders');
new Rule(stack, 'Ordered', {
  eventBus: bus,
  eventPattern: { source: ['shop'], detailType: ['Order Placed'], detail: { total: [11] } },
  targets: [new LambdaFunction(listener('Packer'), retries), new SqsQueue(orders, { deadLetterQueue: undelivered })],
});

undelivered
  .metricApproximateNumberOfMessagesVisible()
  .createAlarm(stack, 'Lost', { threshold: 1, evaluationPeriods: 1 });
new Alarm(stack, 'Share', {
  metric: new MathExpression({ expression: 'a / 2', usingMetrics: { a: failures.metricNumberOfMessagesSent() } }),
  threshold: 1,
  evaluationPeriods: 3,
});
new CfnOutput(stack, 'MachineArn', { value: machine.stateMachineArn });
new CfnOutput(stack, 'FailuresName', { value: failures.queueName });
new CfnOutput(stack, 'UndeliveredName', { value: undelivered.queueName });
new CfnOutput(stack, 'BusName', { value: bus.eventBusName });
new CfnOutput(stack, 'OrdersName', { value: orders.queueName });
