import { type Objects, openObjects } from './objects.ts';
import { openUploads, type Uploads } from './uploads.ts';

/** What a bucket holds: objects, and uploads that no reader sees. Both lie in one folder. */
export interface Bucket {
  readonly objects: Objects;
  readonly uploads: Uploads;
}

export function openBucket(folder: string): Bucket {
  const objects = openObjects(folder);
  const uploads = openUploads(folder);
  // The process may have died after an object was made of an upload, and before the upload was forgotten.
  const made = new Set(objects.all().map(({ content }) => content.file));
  for (const { id, file } of uploads.all()) if (made.has(file)) uploads.end(id);
  objects.tidy(uploads.all().map(({ file }) => file));
  return { objects, uploads };
}
