/**
 * The constructs and options that a CDK app imports.
 *
 * @module mcp-task-server
 */

export type { JsonSchema, TaskSupport } from '../functions/mcp/manifest.ts';
export type { Repair } from '../functions/reconciler/decide.ts';
export type { Engine } from '../functions/tasks/engines.ts';
export type { Status } from '../functions/tasks/record.ts';
export type { InputRequest } from '../functions/tasks/tool-contract.ts';
export { type AnonymousAuth, Auth, type IamAuth, type OAuth, type OAuthProps } from './auth/auth.ts';
export type { Events } from './events/events.ts';
export type { EventsOptions } from './events/options.ts';
export { McpTaskServer, type McpTaskServerProps } from './mcp-task-server.ts';
export type { AlarmThresholds } from './monitoring/alarms.ts';
export type { OnTaskStatusChangeOptions } from './monitoring/status-rule.ts';
export type { OperatorPolicies } from './operators/operator-policies.ts';
export type { Reconciler } from './reconciler.ts';
export type { Domain, OperationProps } from './server-props.ts';
export type { StorageProps } from './storage/log-group.ts';
export type { TaskEvents } from './task-events.ts';
export type { Tool } from './tools/tool.ts';
export { ToolFileError, type ToolFileProps } from './tools/tool-file.ts';
export { ToolFunction, type ToolFunctionProps } from './tools/tool-function.ts';
export type { FunctionToolProps, StateMachineToolProps, ToolProps } from './tools/tool-props.ts';
export type { ToolWorkflow } from './tools/tool-workflow.ts';
