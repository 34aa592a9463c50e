import { type ObjectKey, objectKey, ResultStoreError } from '../../../functions/tasks/results/result-store.ts';

/** S3 as a map: what was put, by its key. `state.down` makes every call fail with this code. */
export function createObjects() {
  const objects = new Map<string, string>();
  const did: string[] = [];
  const state: { down?: string } = {};
  const call = (method: 'PUT' | 'GET'): void => {
    did.push(method);
    if (state.down !== undefined) throw new ResultStoreError(method === 'PUT' ? 'stored' : 'read', state.down);
  };
  return {
    ...{ objects, did, state },
    async put(key: ObjectKey, text: string) {
      call('PUT');
      objects.set(objectKey(key), text);
    },
    async get(key: ObjectKey) {
      call('GET');
      const text = objects.get(objectKey(key));
      if (text === undefined) throw new ResultStoreError('read', 'NoSuchKey');
      return text;
    },
  };
}
