import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';
import { callTask } from '../../../functions/client/index.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const cloud = useCloud('assembly', { assembly: useAssembly('test/cloud/files/app.ts') });
const url = () => new URL(`${cloud().url}/mcp`);
const info = { name: 'test', version: '1' };

test('the official clients of both revisions get the link, and read the file (A-24)', async () => {
  const modern = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await modern.connect(new StreamableHTTPClientTransport(url()));
  const legacy = new LegacyClient(info);
  await legacy.connect(new LegacyTransport(url()) as never);
  for (const client of [modern, legacy]) {
    expect(client.getServerCapabilities()?.resources).toEqual({});
    const { content } = await callTask(client as Client, 'files', { text: 'one' });
    const [link] = content as unknown as { readonly uri: string }[];
    expect(link).toMatchObject({ type: 'resource_link', name: 'Zeilen “eins”.txt', size: 3 });
    const { contents } = await client.readResource({ uri: link?.uri ?? '' });
    expect(contents).toMatchObject([{ uri: link?.uri, text: 'one' }]);
    expect(await (await fetch(link?.uri ?? '')).text()).toBe('one');
  }
  const { resources } = await legacy.listResources();
  expect(resources.map(({ name }) => name)).toEqual(['Zeilen “eins”.txt']);
  await Promise.all([modern.close(), legacy.close()]);
});
