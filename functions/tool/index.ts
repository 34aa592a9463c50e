/**
 * The functions and types for tools.
 *
 * @module mcp-task-server/tool
 */
export type * from '../tasks/tool-contract.ts';
export type { LambdaContext } from './clock.ts';
export { type DefinedTool, defineTool } from './define-tool.ts';
export { StepInterrupted, StepLost, TaskEnded, ToolError } from './errors.ts';
export type { FileBody, FileOptions, FileSource } from './files/body.ts';
export type { MapOptions } from './journal/map.ts';
export type { Retry, StepOptions } from './journal/step.ts';
export { reportProgress } from './progress.ts';
export { elicitForm, elicitUrl, type Question, sample } from './questions.ts';
export type { ArgumentsOf, OutputOf, ToolDefinition, ToolRegistration } from './schema.ts';
export type { Task } from './task.ts';
export type { Duration, Until } from './waits/duration.ts';
export type { Link, LinkAnswer, Received, TimedOut, Webhook, WebhookOptions, Within } from './waits/signals.ts';
export type { Check, Polling } from './waits/waits.ts';
