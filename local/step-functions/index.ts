export { createStepFunctions } from './engine.ts';
export { StatesError } from './errors.ts';
export { DefinitionError } from './place.ts';
export { AGAIN } from './replay.ts';
export type {
  ExecutionSnapshot,
  ExecutionStatus,
  Integration,
  IntegrationCall,
  Operation,
  StateMachineSpec,
  StatusChange,
  StepFunctions,
  StepFunctionsOptions,
} from './types.ts';
