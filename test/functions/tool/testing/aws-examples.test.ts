import { expect, test } from 'vitest';
import { type MachineCall, runMachineTool } from '../../../../functions/tool/testing.ts';

/** Examples of AWS, in JSONata where AWS shows JSONPath, run as tools: the clock moves over their waits. */

const startsAt = new Date('2026-01-01T00:00:00Z');
const named = (name: string) => Object.assign(new Error(name), { name });
const argumentsOf = (call: MachineCall | undefined) => call?.arguments as Record<string, unknown>;

// Developer guide, "Create a workflow that waits for a callback": a message with a token, and a notice of the end.
const CALLBACK = {
  QueryLanguage: 'JSONata',
  Comment: 'Notify the user when the workflow waits for a callback with a task token',
  StartAt: 'Start Task And Wait For Callback',
  States: {
    'Start Task And Wait For Callback': {
      Type: 'Task',
      Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
      Arguments: {
        QueueUrl: 'https://sqs.us-east-1.amazonaws.com/123456789012/jobs',
        MessageBody: {
          MessageTitle: 'Task started by Step Functions. Waiting for callback with task token.',
          TaskToken: '{% $states.context.Task.Token %}',
        },
      },
      TimeoutSeconds: 172_800,
      HeartbeatSeconds: 86_400,
      Next: 'Notify Success',
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Notify Failure' }],
    },
    'Notify Success': {
      Type: 'Task',
      Resource: 'arn:aws:states:::sns:publish',
      Arguments: { Message: 'Callback received. Task started by Step Functions succeeded.', TopicArn: 'topic' },
      End: true,
    },
    'Notify Failure': {
      Type: 'Task',
      Resource: 'arn:aws:states:::sns:publish',
      Arguments: { Message: 'Task started by Step Functions failed.', TopicArn: 'topic' },
      End: true,
    },
  },
};
const published = { MessageId: 'm' };

test('the callback example ends with the notice of what came', async () => {
  const notices = { 'Notify Success': published, 'Notify Failure': published };
  const answered = {
    ...notices,
    'Start Task And Wait For Callback': { message: 'Callback task completed successfully.' },
  };
  const done = await runMachineTool(CALLBACK, {}, { mocks: answered });
  expect(done.states).toEqual(['Start Task And Wait For Callback', 'Notify Success']);
  expect(argumentsOf(done.calls[0]).MessageBody).toMatchObject({ TaskToken: expect.stringMatching(/./) });
  const late = () => Promise.reject(named('States.HeartbeatTimeout'));
  const mocks = { ...notices, 'Start Task And Wait For Callback': late };
  const failed = await runMachineTool(CALLBACK, {}, { mocks });
  expect(failed).toMatchObject({ result: published, states: ['Start Task And Wait For Callback', 'Notify Failure'] });
});

// Developer guide, "Using Map state in Inline mode": each item of an order is checked, then shipped.
const MAP = {
  QueryLanguage: 'JSONata',
  StartAt: 'Validate all',
  States: {
    'Validate all': {
      Type: 'Map',
      Items: '{% $states.input.arguments.detail.shipped %}',
      MaxConcurrency: 0,
      ItemSelector: {
        parcel: '{% $states.context.Map.Item.Value %}',
        courier: '{% $states.input.arguments.courier %}',
      },
      ItemProcessor: {
        StartAt: 'Validate',
        States: {
          Validate: {
            Type: 'Task',
            Resource: 'arn:aws:states:::lambda:invoke',
            Arguments: { FunctionName: 'ship-val', Payload: '{% $states.input %}' },
            Output: '{% $states.result.Payload %}',
            Retry: [
              { ErrorEquals: ['Lambda.TooManyRequestsException'], IntervalSeconds: 2, BackoffRate: 2, MaxAttempts: 6 },
            ],
            End: true,
          },
        },
      },
      Output: { shipped: '{% $states.result %}' },
      End: true,
    },
  },
};

test('the Map example gives each item its own run, in order, and retries a throttled one', async () => {
  const shipped = ['R31', 'S39', 'R31', 'R40', 'R40'].map((prod, index) => ({ prod, 'dest-code': 9_511 + index }));
  let throttled = 2;
  const validate = (call: MachineCall) => {
    const { parcel, courier } = argumentsOf(call).Payload as { parcel: { prod: string }; courier: string };
    if (parcel.prod === 'S39' && throttled-- > 0) throw named('Lambda.TooManyRequestsException');
    return { Payload: `${courier} ${parcel.prod}` };
  };
  const event = { arguments: { courier: 'UQS', detail: { shipped } } };
  const { result, calls, endedAt } = await runMachineTool(MAP, event, { mocks: { Validate: validate }, startsAt });
  expect(result).toEqual({ shipped: shipped.map(({ prod }) => `UQS ${prod}`) });
  expect(calls).toHaveLength(7);
  expect(endedAt.getTime() - startsAt.getTime()).toBe(6_000);
});

// Developer guide, "Call HTTPS APIs in Step Functions workflows": a form for Stripe, with a retry by status.
const HTTP = {
  QueryLanguage: 'JSONata',
  StartAt: 'Call HTTPS API',
  States: {
    'Call HTTPS API': {
      Type: 'Task',
      Resource: 'arn:aws:states:::http:invoke',
      Arguments: {
        ApiEndpoint: 'https://api.stripe.com/v1/invoices',
        Authentication: { ConnectionArn: 'arn:aws:events:us-east-2:123456789012:connection/Stripe/81210c42' },
        Method: 'POST',
        Headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        RequestBody: { description: '{% $states.input.arguments.text %}', metadata: { order: 'one' } },
        Transform: { RequestBodyEncoding: 'URL_ENCODED', RequestEncodingOptions: { ArrayFormat: 'BRACKETS' } },
      },
      Retry: [
        {
          ErrorEquals: ['States.Http.StatusCode.429', 'States.Http.StatusCode.503'],
          BackoffRate: 2,
          IntervalSeconds: 1,
          MaxAttempts: 3,
          JitterStrategy: 'NONE',
        },
      ],
      Output: '{% $states.result.ResponseBody %}',
      End: true,
    },
  },
};

test('the HTTP example retries by the status of the answer', async () => {
  const statuses = [429, 503];
  const stripe = () => {
    const status = statuses.shift();
    if (status !== undefined) throw named(`States.Http.StatusCode.${status}`);
    return { StatusCode: 200, StatusText: 'OK', Headers: {}, ResponseBody: { object: 'invoice' } };
  };
  const event = { arguments: { text: 'My invoice' } };
  const options = { mocks: { 'Call HTTPS API': stripe }, startsAt };
  const { result, calls, endedAt } = await runMachineTool(HTTP, event, options);
  expect(result).toEqual({ object: 'invoice' });
  expect(argumentsOf(calls[2]).RequestBody).toEqual({ description: 'My invoice', metadata: { order: 'one' } });
  expect(endedAt.getTime() - startsAt.getTime()).toBe(3_000);
});
