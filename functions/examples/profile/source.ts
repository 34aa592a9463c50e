import { gunzipSync } from 'node:zlib';
import { download, MAX_BYTES, type Net } from './download.ts';
import { InputProblem } from './errors.ts';
import type { Report } from './report.ts';
import { samples } from './samples.ts';

export interface SourceArguments {
  readonly csv?: string | undefined;
  readonly sample?: string | undefined;
  readonly url?: string | undefined;
}

export interface Source {
  readonly title: string;
  readonly data: Buffer;
}

/** The CSV to profile, wherever it is. Schemas cannot ask for "exactly one of" in a way all clients take, so we do. */
export async function openSource(args: SourceArguments, report: Report, net?: Net): Promise<Source> {
  const { csv, sample, url } = args;
  if ([csv, sample, url].filter((given) => given !== undefined).length !== 1) {
    throw new InputProblem('Send exactly one of `csv` (the text itself), `sample` (e.g. "orders") or `url` (https).');
  }
  if (csv !== undefined) return { title: 'the CSV sent', data: Buffer.from(csv) };
  if (sample !== undefined) return { title: `sample "${sample}"`, data: unpack(sampleBytes(sample)) };
  const data = unpack(await download(url ?? '', report, net));
  return { title: url ?? '', data };
}

function sampleBytes(name: string): Uint8Array {
  const bytes = Object.hasOwn(samples, name) ? samples[name] : undefined;
  if (bytes === undefined) {
    throw new InputProblem(`No sample is called "${name}". There is: ${Object.keys(samples).join(', ')}.`);
  }
  return bytes;
}

/** Gzipped data is unpacked, but never past the limit: a small file could hold gigabytes. */
function unpack(bytes: Uint8Array): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    throw new InputProblem(`The gzipped file is damaged or unpacks to more than ${MAX_BYTES / 1_000_000} MB.`);
  }
}
