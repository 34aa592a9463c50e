import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { download, MAX_BYTES, type Net, openHttps } from '../../../../../functions/examples/profile/source/download.ts';

const silent = async (): Promise<void> => {};
const visited: string[] = [];
let answer: (url: string, response: ServerResponse) => void;
let net: Net;

const server = createServer((incoming, response) => answer(incoming.url ?? '', response));

beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  net = {
    resolve: async (host) => [{ address: host === 'inside.example' ? '10.0.0.1' : '8.8.8.8', family: 4 }],
    // Plain HTTP to a local server in place of TLS to the checked address.
    open: (url, addresses, signal) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        visited.push(`${url.href} at ${addresses[0]?.address}`);
        request({ port, host: '127.0.0.1', path: url.pathname, signal }, resolve).on('error', reject).end();
      }),
  };
});

beforeEach(() => {
  visited.length = 0;
});

afterAll(() => server.close());

const get = (url: string, report = silent) => download(url, report, net);

describe('download', () => {
  test('brings the bytes and reports them', async () => {
    answer = (_url, response) => response.setHeader('content-length', 8).end('a,b\n1,2\n');
    const report = vi.fn(silent);
    expect((await get('https://data.example/x.csv', report)).toString()).toBe('a,b\n1,2\n');
    expect(visited).toEqual(['https://data.example/x.csv at 8.8.8.8']);
    expect(report).toHaveBeenLastCalledWith('Downloaded 0.0 of 0.0 MB', 1);
  });

  test('follows three redirects, also relative ones, not four', async () => {
    const goTo = (response: ServerResponse, location: string) => response.writeHead(302, { location }).end();
    answer = (url, response) => {
      const hop = Number(url.slice(1));
      if (hop === 0) response.end('done');
      else goTo(response, `/${hop - 1}`);
    };
    expect((await get('https://data.example/3')).toString()).toBe('done');
    expect(visited).toHaveLength(4);
    await expect(get('https://data.example/4')).rejects.toThrow(/redirects more than 3 times/);
  });

  test.each([
    ['https://inside.example/x', /inside.example is not on the public internet/],
    ['https://169.254.169.254/x', /not on the public internet/],
    ['http://data.example/x', /Only https/],
    ['file:///etc/passwd', /Only https/],
  ])('does not follow a redirect to %s', async (location, message) => {
    answer = (_url, response) => response.writeHead(307, { location }).end();
    await expect(get('https://data.example/x')).rejects.toThrow(message);
    expect(visited).toHaveLength(1);
  });

  test.each([
    ['http://data.example/x.csv', /Only https/],
    ['data.csv', /not a URL/],
    ['https://me:secret@data.example/', /user name or password/],
    ['https://inside.example/', /not on the public internet/],
  ])('refuses %s without a request', async (url, message) => {
    await expect(get(url)).rejects.toMatchObject({ name: 'ToolError', message: expect.stringMatching(message) });
    expect(visited).toEqual([]);
  });

  test.each([404, 403, 500, 204, 302])('status %i is an error', async (status) => {
    answer = (_url, response) => response.writeHead(status).end();
    await expect(get('https://data.example/x')).rejects.toThrow(`data.example answered with status ${status}`);
  });

  test('refuses a file announced too large at once, a longer one as it comes', async () => {
    answer = (_url, response) => response.writeHead(200, { 'content-length': MAX_BYTES + 1 }).flushHeaders();
    await expect(get('https://data.example/x')).rejects.toThrow(/larger than 50.0 MB/);
    const block = Buffer.alloc(1_000_000);
    answer = (_url, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(block)) {}
      };
      response.on('drain', more);
      more();
    };
    await expect(get('https://data.example/x')).rejects.toThrow(/larger than 50.0 MB/);
  });

  test('a connection lost half way is an error', async () => {
    answer = (_url, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('a,b\n', () => response.destroy());
    };
    await expect(get('https://data.example/x')).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringMatching(/download failed/),
    });
  });

  test('ends when the task does, though the other side says nothing', async () => {
    answer = () => {};
    const task = new AbortController();
    const waiting = download('https://data.example/x', silent, { ...net, signal: task.signal });
    setTimeout(() => task.abort(new Error('cancelled')), 50);
    await expect(waiting).rejects.toThrow('cancelled');
  });

  test('ends when the report does', async () => {
    answer = (_url, response) => response.end('a,b\n');
    const stop = async (): Promise<void> => {
      throw new Error('stopped');
    };
    await expect(get('https://data.example/x', stop)).rejects.toThrow('stopped');
  });
});

test('openHttps connects to the checked address, not to what the name says now', async () => {
  const firstBytes = Promise.withResolvers<Buffer>();
  const tcp = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      firstBytes.resolve(data);
      socket.destroy();
    });
  });
  await new Promise<void>((ready) => tcp.listen(0, '127.0.0.1', ready));
  const { port } = tcp.address() as AddressInfo;
  const url = new URL(`https://data.example:${port}/`);
  const opened = openHttps(url, [{ address: '127.0.0.1', family: 4 }], AbortSignal.timeout(5_000));
  await expect(opened).rejects.toThrow();
  const hello = await firstBytes.promise;
  expect(hello[0]).toBe(0x16);
  expect(hello.includes('data.example')).toBe(true);
  tcp.close();
});
