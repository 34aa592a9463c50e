import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fileUploads } from '../../../../functions/tasks/aws/s3-files.ts';

/** An S3 whose PUTs get these errors in turn, the last one again and again. `lost`: stored, but without an answer. */
async function upload(...answers: ('lost' | 'stored' | [status: number, code: string])[]) {
  let puts = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const answer = answers[Math.min(puts++, answers.length - 1)] ?? 'lost';
      if (answer === 'lost') return request.socket.destroy();
      if (answer === 'stored') return response.end();
      const [status, code] = answer;
      return response.writeHead(status).end(`<Error><Code>${code}</Code><Message>m</Message></Error>`);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const uploads = fileUploads('b', { requestTimeout: 5_000, attempts: 4, endpoint: `http://127.0.0.1:${port}` });
  const file = {
    key: 'files/x',
    type: 'text/plain',
    disposition: 'inline',
    body: Readable.from([Buffer.from('text')]),
  };
  const outcome = await uploads.upload(file, new AbortController().signal).then(
    () => 'stored',
    ({ name }: Error) => name,
  );
  return { puts, outcome };
}
const CONFLICT = [409, 'ConditionalRequestConflict'] as [number, string];
const THERE = [412, 'PreconditionFailed'] as [number, string];

test('a file whose stored attempt had no answer is stored', async () => {
  expect(await upload('lost', THERE)).toEqual({ puts: 2, outcome: 'stored' });
});

test('an attempt that meets an earlier one is repeated, until that is stored or has failed', async () => {
  expect(await upload('lost', CONFLICT, THERE)).toEqual({ puts: 3, outcome: 'stored' });
  expect(await upload('lost', CONFLICT, CONFLICT, 'stored')).toEqual({ puts: 4, outcome: 'stored' });
});

test('another conflict is an error at once', async () => {
  expect(await upload([409, 'OperationAborted'])).toEqual({ puts: 1, outcome: 'OperationAborted' });
});
