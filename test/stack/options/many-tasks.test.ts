import { App, Stack } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { LogLevel } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../../lib/index.ts';
import { inlineFunction } from '../../support/inline-function.ts';
import { propertiesOf, synth } from './synth.ts';

describe('the options for many tasks', () => {
  const levels = (template: Template) =>
    propertiesOf(template, 'AWS::StepFunctions::StateMachine').map(({ LoggingConfiguration: { Level } }) => Level);
  const variables = (template: Template, name: string) =>
    propertiesOf(template, 'AWS::Lambda::Function').flatMap(({ Environment }) => Environment?.Variables[name] ?? []);

  test('warmThroughput counts for the table and both indexes, as each alone would throttle it', () => {
    const [table] = propertiesOf(
      synth(() => ({ warmThroughput: { writeUnitsPerSecond: 8_000 } })),
      'AWS::DynamoDB::GlobalTable',
    );
    const warm = { WriteUnitsPerSecond: 8_000 };
    expect(table).toMatchObject({ WarmThroughput: warm });
    expect(table.GlobalSecondaryIndexes.map((index: object) => index)).toMatchObject([
      { IndexName: 'due', WarmThroughput: warm },
      { IndexName: 'status', WarmThroughput: warm },
    ]);
  });

  test('workflowLogLevel counts for all workflows; without data, as always', () => {
    const template = synth(() => ({ workflowLogLevel: LogLevel.ERROR }));
    expect(levels(template)).toEqual(Array(3).fill('ERROR'));
    for (const { LoggingConfiguration } of propertiesOf(template, 'AWS::StepFunctions::StateMachine')) {
      expect(LoggingConfiguration.IncludeExecutionData).toBe(false);
    }
  });

  test('sweepChecksPerSecond and metricsByTool reach their functions', () => {
    const template = synth(() => ({ sweepChecksPerSecond: 30, metricsByTool: false }));
    expect(variables(template, 'CHECKS_PER_SECOND')).toEqual(['30']);
    expect(variables(template, 'METRICS_BY_TOOL')).toEqual(['false']);
  });

  test('by default the table is as any new one, all is logged and measured, six runs are checked', () => {
    const template = synth();
    const [table] = propertiesOf(template, 'AWS::DynamoDB::GlobalTable');
    expect(JSON.stringify(table)).not.toContain('WarmThroughput');
    expect(levels(template)).toEqual(Array(3).fill('ALL'));
    expect(variables(template, 'CHECKS_PER_SECOND')).toEqual(['6']);
    expect(variables(template, 'METRICS_BY_TOOL')).toEqual(['true']);
  });

  test('without metrics of each tool, a tool has none, and says so', () => {
    const stack = new Stack(new App(), 'S');
    const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), metricsByTool: false });
    const tool = server.addTool('work', {
      handler: inlineFunction(stack),
      description: 'd',
      inputSchema: { type: 'object' },
    });
    expect(() => tool.metricFailed()).toThrow("Tool 'work' has no metrics of its own: metricsByTool is false");
    expect(server.metricFailed().dimensions).toHaveProperty('Server');
  });

  test.each<[Partial<McpTaskServerProps>, string]>([
    [
      { warmThroughput: { writeUnitsPerSecond: 3_999 } },
      'warmThroughput: writeUnitsPerSecond is a whole number from 4000 on',
    ],
    [
      { warmThroughput: { readUnitsPerSecond: 12_000.5 } },
      'warmThroughput: readUnitsPerSecond is a whole number from 12000 on',
    ],
    [{ sweepChecksPerSecond: 0 }, 'sweepChecksPerSecond is a whole number from 1 to 100'],
    [{ sweepChecksPerSecond: 101 }, 'sweepChecksPerSecond is a whole number from 1 to 100'],
    [{ sweepChecksPerSecond: 1.5 }, 'sweepChecksPerSecond is a whole number from 1 to 100'],
    [{ workflowLogLevel: 'DEBUG' as LogLevel }, 'workflowLogLevel is one of OFF, ALL, ERROR, FATAL'],
  ])('are refused by name: %j', (props, message) => {
    expect(() => synth(() => props)).toThrow(`McpTaskServer: ${message}`);
  });
});
