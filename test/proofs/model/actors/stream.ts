import type { TaskEventsContext } from '../../../../functions/task-events/index.ts';
import type { Written } from '../../../support/engine/table.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { resumeLater } from './reconciler.ts';

Object.assign(process.env, { EVENT_BUS: 'model', SERVER_NAME: 'model', METRICS_BY_TOOL: 'false' });
// It reads them when it is loaded.
const { publish } = await import('../../../../functions/task-events/index.ts');

/** A record that waits is written: the stream of the table says so, perhaps late, twice or never. Others begin no round. */
export function tellStream({ before, after }: Omit<Written, 'key'>, simulation: Simulation): void {
  if (after.status?.S !== 'waiting') return;
  const { agenda, faults, trace } = simulation;
  const context: TaskEventsContext = {
    server: 'model',
    metricsByTool: false,
    putEvents: async (entries) => entries.map(() => true),
    audit() {},
    print() {},
    resume: async (key) => resumeLater(simulation, key),
    now: agenda.now,
  };
  const images = { NewImage: after, ...(before && { OldImage: before }) };
  const read = () => void publish({ Records: [{ dynamodb: images }] } as never, context);
  const label = `stream: ${after.taskId?.S} waits`;
  agenda.add({
    label,
    act(draw) {
      const fate = draw(100) < 100 - faults.rate ? 2 : draw(2);
      if (fate === 0) return trace(`${label}, lost`);
      read();
      if (fate === 1) agenda.add({ label: `${label}, again`, act: read });
    },
  });
}
