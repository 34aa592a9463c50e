import { expect, test } from 'vitest';
import { list, variable } from '../../../../functions/tasks/aws/env.ts';

test('a variable that is missing or empty is refused by its name', () => {
  expect(variable({ TASKS_TABLE: 'tasks' }, 'TASKS_TABLE')).toBe('tasks');
  expect(() => variable({}, 'TASKS_TABLE')).toThrow('The environment variable TASKS_TABLE is not set');
  expect(() => variable({ TASKS_TABLE: '' }, 'TASKS_TABLE')).toThrow('TASKS_TABLE is not set');
});

test('a list is empty where no tool needs it', () => {
  expect(list({ TOOL_FUNCTIONS: 'a,b' }, 'TOOL_FUNCTIONS')).toEqual(['a', 'b']);
  expect(list({ TOOL_FUNCTIONS: '' }, 'TOOL_FUNCTIONS')).toEqual([]);
  expect(list({}, 'TOOL_FUNCTIONS')).toEqual([]);
});
