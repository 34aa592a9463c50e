import type { Survivor } from './survivor.ts';

/** Why changes of the methods of the endpoint survive. */
export const METHODS: readonly Survivor[] = [
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: "typeof ttl !== 'number'", to: 'false' },
    why: 'equivalent: Number.isFinite is false for what is no number; the compiler wants both',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: 'progressToken !== undefined', to: 'true' },
    why: 'equivalent: the store leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: 'tool.outputSchemaId !== undefined', to: 'true' },
    why: 'equivalent: the store leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: no question is of this kind',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'taskIds === undefined', to: 'false' },
    why: 'equivalent: undefined has no ids',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'now - quietSince >= QUIET', to: 'now - quietSince > QUIET' },
    why: 'a comment to keep the stream open may come a second later',
  },
  {
    file: 'functions/mcp/methods/tasks-list.ts',
    ...{ from: "typeof params.cursor === 'string'", to: 'true' },
    why: 'equivalent: the signer opens nothing else; the compiler wants it',
  },
  {
    file: 'functions/mcp/methods/tools-call.ts',
    ...{ from: "'leave'", to: '""' },
    why: "equivalent: only 'refuse' is asked about",
  },
  {
    file: 'functions/mcp/methods/tools-call.ts',
    ...{ from: "'call'", to: '""' },
    why: "equivalent in 2026-07-28, where only 'result' is asked about",
  },
  {
    file: 'functions/mcp/methods/server-discover.ts',
    ...{ from: 'manifest.instructions !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/initialize.ts',
    ...{ from: 'instructions !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: 'message !== undefined', to: 'true' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: "record.status !== 'working'", to: 'false' },
    why: 'equivalent: the check of the whole record follows; only spares a read of S3',
  },
  {
    file: 'functions/mcp/methods/create-task.ts',
    ...{ from: 'record.accepts !== undefined', to: 'false' },
    why: 'equivalent: of a client that can answer, large arguments are in S3, and the record has an inputRef',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: 'seen?.status', to: 'seen.status' },
    why: 'equivalent: that a task is gone is an answer, given before; the compiler wants it',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: 'seen === undefined', to: 'false' },
    why: 'equivalent: that a task is gone is an answer, given before; the compiler wants it',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: "call.wire.era === 'legacy'", to: 'true' },
    why: 'equivalent: in 2026-07-28 questions are an answer, given before',
  },
  {
    file: 'functions/mcp/methods/delivery.ts',
    ...{ from: 'server.now() < graceEnds', to: 'server.now() <= graceEnds' },
    why: 'a wait may be counted a millisecond later',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: toolResult always has content; the compiler wants a default',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: 'result === undefined', to: 'false' },
    why: 'equivalent: JSON leaves out what is undefined',
  },
  {
    file: 'functions/mcp/methods/helper-tools.ts',
    ...{ from: 'isError === true', to: 'true' },
    why: 'equivalent: toolResult has no isError but true',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'record.updatedAt > last.updatedAt', to: 'true' },
    why: 'equivalent in isLater: a task has one fetch at a time, and only for what is newer',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'record.updatedAt > last.updatedAt', to: 'record.updatedAt >= last.updatedAt' },
    why: 'equivalent in isLater: a task has one fetch at a time, and only for what is newer',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'stageOf(record) > stageOf(last)', to: 'stageOf(record) >= stageOf(last)' },
    why: 'equivalent: a task has one fetch at a time, and only for what is newer',
  },
  {
    file: 'functions/mcp/methods/subscriptions-listen.ts',
    ...{ from: 'frame !== undefined', to: 'true' },
    why: 'equivalent: what needs no object of S3 always makes a frame',
  },
];
