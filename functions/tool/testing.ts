/**
 * The functions for tests of tools.
 *
 * @module mcp-task-server/testing
 */
export { type Ran, type RunOptions, runTool } from './run-tool.ts';
