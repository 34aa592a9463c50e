import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ToolError } from 'mcp-task-server/tool';
import type { ProfileArguments } from '../definition.ts';
import type { Report } from '../report.ts';
import { download, MAX_BYTES, type Net } from './download.ts';
import { samples } from './samples.ts';

export interface Source {
  readonly title: string;
  readonly data: Buffer;
}

/** The CSV to profile, wherever it is. Schemas cannot ask for "exactly one of" in a way all clients take, so we do. */
export async function openSource(args: ProfileArguments, report: Report, net: Net): Promise<Source> {
  const { csv, sample, url } = args;
  if ([csv, sample, url].filter((given) => given !== undefined).length !== 1) {
    throw new ToolError('Send exactly one of `csv` (the text itself), `sample` (e.g. "orders") or `url` (https).');
  }
  if (csv !== undefined) return { title: 'the CSV sent', data: Buffer.from(csv) };
  if (sample !== undefined) return { title: `sample "${sample}"`, data: await unpack(samples[sample]) };
  const data = await unpack(await download(url ?? '', report, net));
  return { title: url ?? '', data };
}

/** Gzipped data is unpacked, but never past the limit: a small file could hold gigabytes. */
async function unpack(bytes: Uint8Array): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    throw new ToolError(`The gzipped file is damaged or unpacks to more than ${MAX_BYTES / 1_000_000} MB.`);
  }
}
