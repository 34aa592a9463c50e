import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { fileUploads } from '../../../../functions/tasks/aws/s3-files.ts';
import { served } from './fake-service.ts';

/** The outcome of an upload to this server. */
async function uploaded(server: Server, bytes: number, body = Readable.from([Buffer.alloc(bytes)])): Promise<string> {
  const options = { requestTimeout: 5_000, attempts: 4, region: 'eu-west-1', endpoint: await served(server) };
  const file = { key: 'files/x', type: 'text/plain', disposition: 'inline', body };
  return fileUploads('b', options)
    .upload(file, new AbortController().signal)
    .then(
      () => 'stored',
      ({ name }: Error) => name,
    );
}

/** An S3 whose PUTs get these answers in turn, the last one again and again. `lost`: stored, but without an answer. */
async function upload(...answers: ('lost' | 'stored' | readonly [status: number, code: string])[]) {
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
  const outcome = await uploaded(server, 4);
  return { puts, outcome };
}
const CONFLICT = [409, 'ConditionalRequestConflict'] as const;
const THERE = [412, 'PreconditionFailed'] as const;

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

type Answer = readonly [status: number, code: string];

/** An S3 that takes the parts of an upload. @param end answers its end @param part answers the others */
function storeOfParts(
  end: () => Answer,
  part: (method: string) => Answer | 'lost' | undefined = () => undefined,
): Server {
  return createServer((request, response) => {
    request.resume().once('end', () => {
      const { method, url = '' } = request;
      if (method === 'POST' && url.includes('uploads')) {
        return response.end('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>');
      }
      const other = part(method ?? '');
      if (other === 'lost') return request.socket.destroy();
      if (other === undefined && method === 'PUT') return response.writeHead(200, { etag: '"e"' }).end();
      if (other === undefined && method === 'DELETE') return response.writeHead(204).end();
      const [status, code] = other ?? end();
      return response.writeHead(status).end(`<Error><Code>${code}</Code><Message>m</Message></Error>`);
    });
  });
}

test.each(['PreconditionFailed', 'NoSuchUpload'])('a source that throws %s has stored nothing', async (name) => {
  for (const megabytes of [0, 12]) {
    const source = Readable.from(
      (function* () {
        for (let i = 0; i < megabytes; i++) yield Buffer.alloc(1024 ** 2);
        throw Object.assign(new Error('The copied object has changed'), { name });
      })(),
      { objectMode: false },
    );
    expect(
      await uploaded(
        storeOfParts(() => [500, 'InternalError']),
        0,
        source,
      ),
    ).toBe(name);
  }
});

test('the end of an upload in parts is not repeated after a conflict: its parts may be gone', async () => {
  let ends = 0;
  // A repeat would find no upload, and take that for a file that is stored.
  const server = storeOfParts(() => (++ends === 1 ? CONFLICT : [404, 'NoSuchUpload']));
  expect([await uploaded(server, 6 * 1024 ** 2), ends]).toEqual(['ConditionalRequestConflict', 1]);
});

test('an upload that has failed is not stored, if the answer to its end is lost, too', async () => {
  let aborts = 0;
  const server = storeOfParts(
    () => [500, 'InternalError'],
    (method) => {
      if (method === 'PUT') return [403, 'AccessDenied'];
      return method === 'DELETE' ? (++aborts === 1 ? 'lost' : [404, 'NoSuchUpload']) : undefined;
    },
  );
  expect([await uploaded(server, 6 * 1024 ** 2), aborts]).toEqual([expect.not.stringContaining('stored'), 2]);
});

test('the end of an upload in parts whose answer was lost has stored the file', async () => {
  let ends = 0;
  const server = storeOfParts(
    () => [404, 'NoSuchUpload'],
    (method) => (method === 'POST' && ++ends === 1 ? 'lost' : undefined),
  );
  expect([await uploaded(server, 6 * 1024 ** 2), ends]).toEqual(['stored', 2]);
});
