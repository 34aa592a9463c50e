import type { Survivor } from './survivor.ts';

/** Why changes survive in what the endpoint does with one task. */
export const MCP_TASK: readonly Survivor[] = [
  {
    file: 'functions/mcp/task/poll-interval.ts',
    ...{ from: 'expected !== undefined', to: 'true' },
    why: 'equivalent: undefined is at most nothing; the compiler wants it',
  },
  {
    file: 'functions/mcp/task/stored-result.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: it is no reference, either',
  },
  {
    file: 'functions/mcp/task/cancel-task.ts',
    ...{ from: 'ended !== undefined', to: 'false' },
    why: 'equivalent where it tells who has won: what this request has written has its time',
  },
  {
    file: 'functions/mcp/task/resume-round.ts',
    ...{ from: 'asOf(record, now)?.status', to: 'asOf(record, now).status' },
    why: 'equivalent: no task expires before its deadline; the compiler wants it',
  },
  {
    file: 'functions/mcp/task/task-input.ts',
    ...{ from: "stored.status !== 'input_required'", to: 'false' },
    why: 'equivalent: readers see no other task as one that waits; only spares work',
  },
  {
    file: 'functions/mcp/task/task-input.ts',
    ...{ from: '-PAUSE', to: '+PAUSE' },
    why: 'equivalent: the clock is far from both',
  },
  {
    file: 'functions/mcp/task/machine-progress.ts',
    ...{ from: '/:stateMachine:.*$/', to: '/:stateMachine:.*/' },
    why: 'equivalent: .* takes all there is',
  },
  {
    file: 'functions/mcp/task/machine-progress.ts',
    ...{ from: '{ state: Promise.resolve(undefined), until: now(), askedAt: now() }', to: '{}' },
    why: 'equivalent: readers await the state, and a time that is missing is over',
  },
  {
    file: 'functions/mcp/task/still-running-result.ts',
    ...{ from: '$schema !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/task/still-running-result.ts',
    ...{ from: '$defs !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/task/still-running-result.ts',
    ...{ from: 'definitions !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/task/still-running-result.ts',
    ...{ from: "typeof value === 'string'", to: 'true' },
    why: 'equivalent: a $ref that is no text is no schema; the compiler wants it',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{ from: "stored !== undefined && record.status === 'failed'", to: 'true' },
    why: 'equivalent: a task without that failure has no such change; only spares work',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{
      from: "stored !== undefined && record.status === 'failed'",
      to: "stored !== undefined || record.status === 'failed'",
    },
    why: 'equivalent: a task without that failure has no such change; only spares work',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{ from: "record.status === 'failed'", to: 'true' },
    why: 'equivalent: a task without that failure has no such change; only spares work',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{ from: 'stored !== undefined', to: 'true' },
    why: 'equivalent: a record was found, so one is stored; the compiler wants it',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{ from: 'tool?.entry', to: 'tool.entry' },
    why: 'equivalent: a validator belongs to a tool; the compiler wants it',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a validator belongs to a tool; the compiler wants a default',
  },
  {
    file: 'functions/mcp/task/task-view.ts',
    ...{ from: 'true', to: 'false' },
    why: 'equivalent: only the keys of the map are read',
  },
];
