/**
 * The functions for tests of tools.
 *
 * @module mcp-task-server/testing
 */
export {
  type MachineCall,
  type MachineMock,
  type MachineRan,
  type RunMachineOptions,
  runMachineTool,
} from './run-machine.ts';
export { type Ran, type RunOptions, runTool } from './run-tool.ts';
