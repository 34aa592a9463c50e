import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../../lib/index.ts';
import { inlineFunction } from '../../support/inline-function.ts';

/** A template of a server with a tool and these options. */
export function synth(propsOf: (stack: Stack) => Partial<McpTaskServerProps> = () => ({})) {
  const stack = new Stack(new App(), 'S', { env: { region: 'us-east-1' } });
  const handler = inlineFunction(stack);
  const auth = Auth.oauth({ issuer: 'https://login.example.com', audience: 'https://mcp.example.com/mcp' });
  const server = new McpTaskServer(stack, 'Server', { auth, ...propsOf(stack) });
  server.addTool('work', { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' });
  return Template.fromStack(stack);
}

export const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties);
export const certificateOf = (stack: Stack) =>
  Certificate.fromCertificateArn(stack, 'C', 'arn:aws:acm:us-east-1:000000000000:certificate/c');
