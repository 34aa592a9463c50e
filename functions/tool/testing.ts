/**
 * What tests of tools import.
 *
 * @module mcp-task-server/testing
 */
export { type Ran, type RunOptions, runTool } from './run-tool.ts';
