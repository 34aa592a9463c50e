import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { callTask, resumeTask } from '../../../functions/client/index.ts';
import { portOf } from '../../../functions/client/port.ts';
import { instantPauses } from './instant.ts';
import { DONE, type Handler, inTurn, NEW, Refusal, taskServer, throwing, turns, UNANSWERED } from './scripted.ts';

const pauses = instantPauses();
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** How the transport throws the body of an HTTP error. */
const http = (status: number, body?: object) =>
  Object.assign(new Error(`HTTP ${status}`), { data: { status, text: body && JSON.stringify(body) } });
const busy: Handler = (_params, { id }) => {
  throw http(429, { jsonrpc: '2.0', id, error: { code: -32603, message: 'try again in 2 s' } });
};

test('a status, or a call with a key, whose stream ends without an answer is asked for again', async () => {
  const { 'tools/call': create, 'tasks/get': get } = taskServer([['completed']]).handlers;
  const lost = throwing(UNANSWERED);
  const server = taskServer([], { 'tools/call': inTurn(lost, create), 'tasks/get': inTurn(lost, get) });
  expect(await callTask(await NEW(server), 'tool', {}, { idempotencyKey: 'k' })).toMatchObject(DONE);
  expect(server.methods()).toEqual(['tools/call', 'tools/call', 'tasks/get', 'tasks/get']);
  expect(pauses).toEqual([1_000, 1_000]);
});

test('a call without a key fails when its stream ends without an answer', async () => {
  const server = taskServer([['completed']], { 'tools/call': throwing(UNANSWERED) });
  await expect(callTask(await NEW(server), 'tool')).rejects.toThrow('ended without an answer');
  expect(server.methods()).toEqual(['tools/call']);
});

test('a busy server is asked again, though it names its reason', async () => {
  const { 'tasks/get': get } = taskServer([['completed']]).handlers;
  const server = taskServer([], { 'tasks/get': inTurn(busy, get) });
  expect(await resumeTask(await NEW(server), 'T')).toMatchObject(DONE);
});

test('what AWS could not do is asked for again by its reason', async () => {
  for (const reason of ['Unavailable', 'ResultUnavailable']) {
    const { 'tasks/get': get } = taskServer([['completed']]).handlers;
    const server = taskServer([], { 'tasks/get': inTurn(throwing(new Refusal(-32603, 'later', { reason })), get) });
    expect(await resumeTask(await NEW(server), 'T')).toMatchObject(DONE);
    const stays = taskServer([], { 'tasks/get': throwing(new Refusal(-32603, 'later', { reason })) });
    const refused = { code: -32603, message: 'later' };
    await expect(resumeTask(await NEW(stays), 'T')).rejects.toMatchObject(refused);
    expect(stays.asked).toHaveLength(6);
  }
});

test('a server that stays busy fails the call with its reason and code', async () => {
  const server = taskServer([], { 'tools/call': busy });
  const client = await NEW(server);
  const refused = { code: -32603, message: 'try again in 2 s' };
  await expect(callTask(client, 'tool', {}, { idempotencyKey: 'k' })).rejects.toMatchObject(refused);
  expect(server.asked).toHaveLength(6);
  await expect(callTask(client, 'tool')).rejects.toMatchObject(refused);
  expect(server.asked).toHaveLength(7);
});

test('an HTTP error fails with the error in its body, or as the transport has thrown it', async () => {
  const refused: Handler = (_params, { id }) => {
    throw http(404, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } });
  };
  const failed = async (thrown: Handler) => {
    const server = taskServer([], { 'tools/call': thrown });
    return callTask(await NEW(server), 'tool').catch((error) => error);
  };
  expect(await failed(refused)).toMatchObject({ code: -32601, message: 'no such method' });
  expect(await failed(throwing(http(401)))).toMatchObject({ message: 'HTTP 401' });
  expect(await failed(throwing(http(403, { message: 'Forbidden' })))).toMatchObject({ message: 'HTTP 403' });
  expect(await failed(throwing(http(403, [])))).toMatchObject({ message: 'HTTP 403' });
});

test('answers to requests of the program, and what comes late, go to the client', async () => {
  const server = taskServer([['working'], ['completed']], {
    ping: () => ({ resultType: 'complete' }),
    'tools/list': () => ({ resultType: 'complete', tools: [], ttlMs: 1, cacheScope: 'private' }),
  });
  const client = await NEW(server);
  const unknown: string[] = [];
  client.onerror = ({ message }) => void unknown.push(message);
  const [result, listed] = await Promise.all([resumeTask(client, 'T'), client.listTools()]);
  expect(result).toMatchObject(DONE);
  expect(listed.tools).toEqual([]);
  expect(unknown).toEqual([]);
  const { id } = server.asked.find(({ method }) => method === 'tasks/get');
  server.onmessage?.({ jsonrpc: '2.0', id, result: {} });
  expect(unknown).toEqual([expect.stringContaining(id)]);
});

test('a request of the server is never taken for an answer', async () => {
  const server = taskServer([['completed']], {
    'tasks/get': inTurn((_params, { id }) => {
      server.onmessage?.({ jsonrpc: '2.0', id, method: 'elicitation/create', params: {} });
      return taskServer([['completed']]).handlers['tasks/get']?.({ _meta: server.asked[0].params._meta }, {});
    }),
  });
  expect(await resumeTask(await NEW(server), 'T')).toMatchObject(DONE);
});

test('says who asks, in which revision, and that it knows tasks', async () => {
  const server = taskServer([['completed']]);
  await resumeTask(await NEW(server), 'T');
  expect(server.asked[0].params).toMatchObject({
    taskId: 'T',
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'mcp-task-server/client', version },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  });
});

test('a client without a connection fails by name', () => {
  expect(() => portOf(new Client({ name: 'test', version: '1' }), {})).toThrow('The client is not connected');
});

describe('a request', () => {
  const get = { method: 'tasks/get', params: { taskId: 'T' } };

  test.each([new Error('enough'), null, 'a text'])('that is aborted ends with the reason: %s', async (reason) => {
    const stop = new AbortController();
    const server = taskServer([], { 'tasks/get': () => new Promise(() => {}) });
    const asked = portOf(await NEW(server), {}).dispatch(get, { signal: stop.signal });
    await turns();
    stop.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(server.options).toEqual([expect.objectContaining({ requestSignal: stop.signal })]);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  test('may have no signal, and leaves the transport as the first one has left it', async () => {
    const server = taskServer([['completed']]);
    const port = portOf(await NEW(server), {});
    expect(await port.dispatch(get)).toMatchObject({ kind: 'result' });
    const { onmessage } = server;
    expect(await port.dispatch(get)).toMatchObject({ kind: 'result' });
    expect(server.onmessage).toBe(onmessage);
    expect(server.options[0]).not.toHaveProperty('requestSignal');
  });
});
