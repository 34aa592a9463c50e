/**
 * The functions for tests of tools.
 *
 * @module mcp-task-server/testing
 */

export type { TestFile } from './files/testing.ts';
export { type Ran, type RunOptions, runTool } from './run-tool.ts';
export {
  type MachineCall,
  type MachineMock,
  type MachineRan,
  type RunMachineOptions,
  runMachineTool,
} from './testing/run-machine.ts';
