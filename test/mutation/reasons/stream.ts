import type { Survivor } from './survivor.ts';

/** Why changes of streams of the endpoint survive. */
export const STREAM: readonly Survivor[] = [
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a signed event id has all its fields; and every stream gets a name of its own',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: 'progressToken !== undefined', to: 'true' },
    why: 'equivalent: its readers ask whether it is undefined',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'held.sequence + 1', to: 'held.sequence - 1' },
    why: 'equivalent: each number is used once, either way',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'key === undefined', to: 'false' },
    why: 'equivalent: the id of the task was signed, or found before; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'record === undefined', to: 'false' },
    why: 'equivalent: that a task is gone is an answer, given before; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'server.now() - quietSince < QUIET', to: 'server.now() - quietSince <= QUIET' },
    why: 'a comment to keep the stream open may come one read later',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'resumable', to: 'true' },
    why: 'equivalent at its end: a stream of 2026-07-28 ends with its answer',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: "typeof id === 'string'", to: 'true' },
    why: 'equivalent: the signer verifies nothing else; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: without a second part it names no question, either',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: 'taskId === undefined || mark === undefined', to: 'taskId === undefined && mark === undefined' },
    why: 'equivalent: a signed text has both parts; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: 'taskId === undefined', to: 'false' },
    why: 'equivalent: a signed text has both parts; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/questions.ts',
    ...{ from: 'mark === undefined', to: 'false' },
    why: 'equivalent: a signed text has both parts; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/session-questions.ts',
    ...{ from: 'at !== undefined', to: 'true' },
    why: 'equivalent: no time minus undefined is small; the compiler wants it',
  },
  {
    file: 'functions/mcp/stream/session-questions.ts',
    ...{ from: "record.status !== 'input_required'", to: 'false' },
    why: 'equivalent: a task that does not wait has no open questions; only spares a read',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: a signed event id has all its fields; the compiler wants a default',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: '[]', to: '["Stryker was here"]' },
    why: 'equivalent: a text is no task and no question',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'now - quietSince >= QUIET', to: 'now - quietSince > QUIET' },
    why: 'a comment to keep the stream open may come a second later',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'server.now() >= at + grace', to: 'server.now() > at + grace' },
    why: 'the grace may last a millisecond longer',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{
      from: 'server.now() - (notes.asked[mark] ?? 0) >= after',
      to: 'server.now() - (notes.asked[mark] ?? 0) > after',
    },
    why: 'the pause may last a millisecond longer',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: '++sequence', to: '--sequence' },
    why: 'equivalent: each number is used once, either way',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'keys.length > 0', to: 'true' },
    why: 'equivalent: the store reads nothing for no keys',
  },
  {
    file: 'functions/mcp/stream/session-stream.ts',
    ...{ from: 'keys.length > 0', to: 'keys.length >= 0' },
    why: 'equivalent: the store reads nothing for no keys',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: '{ answered: true }', to: '{}' },
    why: 'equivalent in 2026-07-28, where no stream is resumed',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "delivers === 'call'", to: 'true' },
    why: 'equivalent: only makes an event id longer',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "typeof value === 'number'", to: 'false' },
    why: 'equivalent: only makes an event id longer',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: "'number'", to: '""' },
    why: 'equivalent: only makes an event id longer',
  },
  {
    file: 'functions/mcp/stream/held-call.ts',
    ...{ from: 'text.slice(1)', to: 'text' },
    why: 'equivalent: base64url has no dot, and its decoder skips it',
  },
  {
    file: 'functions/mcp/stream/stored-frames.ts',
    ...{ from: "''", to: '"Stryker was here!"' },
    why: 'equivalent: neither is a reference',
  },
  {
    file: 'functions/mcp/stream/stored-frames.ts',
    ...{ from: "status === 'completed'", to: 'true' },
    why: 'equivalent: only a completed task has a result',
  },
  {
    file: 'functions/mcp/stream/hold.ts',
    ...{ from: 'true', to: 'false' },
    why: 'equivalent in 2026-07-28, where no stream is resumed',
  },
];
