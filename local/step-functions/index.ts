export { DefinitionError } from './definition/place.ts';
export { createStepFunctions } from './engine.ts';
export { StatesError } from './errors.ts';
export { AGAIN } from './outside.ts';
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
