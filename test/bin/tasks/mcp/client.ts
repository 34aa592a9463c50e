import { join } from 'node:path';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import type { Cloud } from '../../../../local/cloud.ts';

const ROOT = join(import.meta.dirname, '../../../..');
export const COMMAND = join(ROOT, 'bin/mcp-task-server.ts');

/** The environment of `mcp-task-server tasks` on an embedded cloud, as on a deployed stack. */
export const environment = (cloud: Cloud, accessKey = 'administrator'): Record<string, string> => ({
  AWS_ENDPOINT_URL: cloud.endpoint,
  AWS_REGION: cloud.region,
  AWS_ACCESS_KEY_ID: accessKey,
  AWS_SECRET_ACCESS_KEY: 'test',
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
});

export interface Answered {
  readonly isError?: boolean;
  /** The short text. */
  readonly text: string;
  /** The second text, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  readonly json: () => any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly data: any;
}

export interface Operator {
  readonly client: Client;
  readonly call: (name: string, input?: Record<string, unknown>) => Promise<Answered>;
  /** What the server has written to stderr so far. */
  readonly err: () => string;
}

/** The official client, and `mcp-task-server tasks mcp` in a separate process. It ends with the test. */
export async function operatorOn(
  args: readonly string[],
  env: Record<string, string>,
  { cwd = '/', ...options }: ClientOptions & { readonly cwd?: string } = {},
): Promise<Operator> {
  const server = { command: process.execPath, args: [COMMAND, 'tasks', 'mcp', ...args], env, cwd };
  const transport = new StdioClientTransport({ ...server, stderr: 'pipe' });
  const err: string[] = [];
  transport.stderr?.on('data', (chunk: Buffer) => err.push(chunk.toString()));
  const client = new Client({ name: 'test', version: '1' }, options);
  onTestFinished(() => client.close());
  await client.connect(transport);
  const call = async (name: string, input = {}): Promise<Answered> => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    const [first, second] = content.map((part) => (part.type === 'text' ? part.text : ''));
    const json = () => JSON.parse(second ?? '');
    return { ...(isError !== undefined && { isError }), text: first ?? '', json, data: structuredContent };
  };
  return { client, call, err: () => err.join('') };
}
