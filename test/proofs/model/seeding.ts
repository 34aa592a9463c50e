import type { TaskStore } from '../../../functions/tasks/table/store.ts';
import type { Change } from '../../../functions/tasks/transitions/change.ts';
import type { Owner, Parts, Services } from './simulation/simulation.ts';

/** Other services for the processes of one owner. */
export function of(owner: Owner, other: (real: Services) => Services): Partial<Parts> {
  return { services: (real, process) => (process === owner ? other(real) : real) };
}

/** Writes something else than what was decided. */
export function writing(real: Services, other: (change: Change) => Change): Services {
  const store: TaskStore = {
    ...real.store,
    apply: (key, change) => real.store.apply(key, other(change)),
    applyBlind: (key, change) => real.store.applyBlind(key, other(change)),
  };
  return { ...real, store };
}
