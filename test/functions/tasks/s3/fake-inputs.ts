import { type ObjectKey, objectKey, ResultStoreError } from '../../../../functions/tasks/results/result-store.ts';
import { type InputStore, inputStore } from '../../../../functions/tasks/s3/input-store.ts';

/** S3 as a map: what was put, by its key. `down` makes every call fail with this code. */
export function fakeObjects() {
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

/** For tests in which everything is small. */
export const noInputs = (): InputStore => inputStore(fakeObjects());
