/** What the tests of a tool import: `mcp-task-server/testing`. */
export { type Ran, type RunOptions, runTool } from './run-tool.ts';
