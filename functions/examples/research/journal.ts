import { gunzipSync } from 'node:zlib';
import packed from '../samples/journal.txt.gz';

/** The journal shipped inside the bundle. The only module that needs the bundler's `.gz` loader. */
export const journal = (): string => gunzipSync(packed).toString();
