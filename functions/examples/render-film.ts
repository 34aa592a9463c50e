import { crc32, deflateSync } from 'node:zlib';
import { defineTool } from 'mcp-task-server/tool';

const MB = 1_000_000;

/** Renders a film of 300 MB, and shows its first frame while it works. The pictures are noise: put your renderer in their place. */
export const handler = defineTool(
  {
    title: 'Render a film',
    description: 'Renders a film, shows a preview while it works, and gives a link to the file.',
    taskSupport: 'required',
    files: true,
    inputSchema: {
      type: 'object',
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 100 },
        megabytes: { type: 'integer', minimum: 1, maximum: 2_000, default: 300, description: 'Size of the film.' },
      },
      required: ['title'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  async ({ title, megabytes = 300 }, task) => {
    await task.progress('Rendering the first frame', { progress: 0, total: megabytes });
    const png = { contentType: 'image/png' };
    await task.preview(await task.file('preview.png', () => firstFrame(title), png));
    const shown = (done: number) => task.progress(`${done} of ${megabytes} MB`, { progress: done, total: megabytes });
    const film = await task.file('film.bin', () => frames(title, megabytes, shown));
    return { content: [{ type: 'text', text: `“${title}” is rendered.` }, film] };
  },
);

/** The frames of the film, each when the upload has room for it: they never lie in memory together. */
async function* frames(title: string, megabytes: number, shown: (done: number) => Promise<void>) {
  const block = Buffer.alloc(MB, `${title}\n`);
  for (let n = 0; n < megabytes; n++) {
    const frame = Buffer.from(block);
    frame.writeUInt32BE(n);
    yield frame;
    if (n % 10 === 0) await shown(n);
  }
}

/** A picture of 64 × 64 pixels, in a colour made of the title. */
function firstFrame(title: string): Buffer {
  const size = 64;
  const colour = [...title].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 0xffffff, 0);
  const row = Buffer.alloc(1 + size * 3);
  for (let x = 0; x < size; x++) row.writeUIntBE(colour, 1 + x * 3, 3);
  const header = Buffer.from([0, 0, 0, size, 0, 0, 0, size, 8, 2, 0, 0, 0]);
  const pixels = deflateSync(Buffer.concat(Array(size).fill(row)));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
