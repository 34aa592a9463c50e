import { NotAllowed, OperatorError } from '../../../functions/operator/errors.ts';
import * as errors from '../../../functions/tasks/errors.ts';
import { ResultStoreError } from '../../../functions/tasks/results/result-store.ts';
import { InputLost } from '../../../functions/tasks/s3/input-store.ts';

type Names = keyof typeof errors;

/** One of each refusal that a client can get. */
export const REFUSALS: Readonly<Record<Names, errors.McpError>> = {
  McpError: new errors.McpError(-32000, 'An error'),
  ParseError: new errors.ParseError(),
  InvalidRequest: new errors.InvalidRequest('Not a request'),
  MethodNotFound: new errors.MethodNotFound('x/y'),
  NotSupportedByTool: new errors.NotSupportedByTool('Tool x cannot run as a task'),
  InvalidParams: new errors.InvalidParams('name must be a string'),
  ResourceNotFound: new errors.ResourceNotFound('https://server.example/files/a/b'),
  TaskNotFound: new errors.TaskNotFound(),
  InternalError: new errors.InternalError(),
  RecordUnknown: new errors.RecordUnknown('t'),
  Unavailable: new errors.Unavailable(),
  TooManyStarts: new errors.TooManyStarts(true),
  TaskUnread: new errors.TaskUnread('t'),
  TooManyTasks: new errors.TooManyTasks(1),
  TooManyRefused: new errors.TooManyRefused('Not valid', 1),
  TooManyStreams: new errors.TooManyStreams(1),
  TooManyPolls: new errors.TooManyPolls(1),
  TooManyLists: new errors.TooManyLists(1),
  InsufficientScope: new errors.InsufficientScope(['a']),
  HeaderMismatch: new errors.HeaderMismatch('x'),
  MissingClientCapability: new errors.MissingClientCapability('It asks', { elicitation: {} }),
  UnsupportedVersion: new errors.UnsupportedVersion(['2026-07-28'], '2020-01-01'),
};

/** As an AWS client throws it. */
const ofAws = (name: string): Error => Object.assign(new Error(`The service says ${name}`), { name });

/** What a call of a port can fail with. */
export const FAULTS: readonly Error[] = [
  ...Object.values(REFUSALS),
  new errors.TooManyStarts(false),
  new InputLost('The input is lost'),
  new ResultStoreError('read', 'NoSuchKey'),
  new ResultStoreError('stored', 'SlowDown'),
  new ResultStoreError('read', 'AccessDenied'),
  new NotAllowed('Not done', 'act', 'change it'),
  new OperatorError('No such task'),
  ...[
    'AccessDeniedException',
    'ConditionalCheckFailedException',
    'ExecutionAlreadyExists',
    'ExecutionDoesNotExist',
    'InternalServerError',
    'ThrottlingException',
    'TimeoutError',
  ].map(ofAws),
  new TypeError('x is not a function'),
];

/** The port, whose calls of this method fail. */
export const failing = <Port extends object>(port: Port, method: keyof Port, error: Error): Port => ({
  ...port,
  [method]: () => Promise.reject(error),
});

/** What a call returns, or what its error says besides where it was thrown. */
export const ended = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => ({ value }),
    ({ name, message, code, data }) => ({ thrown: { name, message, code, data } }),
  );
