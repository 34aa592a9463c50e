import { isObject } from '../../json.ts';
import { type Fields, openFields } from '../definition/fields.ts';
import { createLoader, type Loader, type MachineScope } from '../definition/loader.ts';
import { visibleNames } from '../definition/variables.ts';
import type { Flow, State, Visit } from '../flow.ts';
import { refuse } from '../place.ts';
import { loadChoice } from '../states/choice.ts';
import { loadFail, loadSucceed } from '../states/end.ts';
import { loadMap } from '../states/map.ts';
import { loadParallel } from '../states/parallel.ts';
import { loadPass } from '../states/pass.ts';
import { loadTask } from '../states/task.ts';
import { loadWait } from '../states/wait.ts';

type StateLoader = (fields: Fields, loader: Loader) => State['visit'];

const STATE_LOADERS: ReadonlyMap<string, StateLoader> = new Map([
  ['Task', loadTask],
  ['Pass', loadPass],
  ['Choice', loadChoice],
  ['Wait', loadWait],
  ['Succeed', loadSucceed],
  ['Fail', loadFail],
  ['Parallel', loadParallel],
  ['Map', loadMap],
]);

/** The types of states that are known. */
export const STATE_TYPES: readonly string[] = [...STATE_LOADERS.keys()];

type Targets = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads StartAt and States of a machine, a branch or an item processor, and closes the fields. */
export function loadFlow(fields: Fields, machine: MachineScope, outer: ReadonlySet<string>): Flow {
  fields.take('Comment');
  const startAt = fields.text('StartAt');
  const sources = fields.take('States');
  if (!isObject(sources)) refuse(fields.at('States'), 'must be an object');
  fields.close();

  const variables = visibleNames(sources, outer, fields.place);
  const states = new Map<string, State>();
  const targets = new Map<string, Set<string>>();
  for (const [name, source] of Object.entries(sources)) {
    const goesTo = new Set<string>();
    const flow = (inside: Fields) => loadFlow(inside, machine, variables);
    const loader = createLoader({ machine, variables, targets: goesTo, flow });
    states.set(name, loadState(openFields(source, { machine: fields.place.machine, state: name }), machine, loader));
    targets.set(name, goesTo);
  }
  checkTargets(fields, startAt, targets);
  return { startAt, states };
}

function loadState(fields: Fields, machine: MachineScope, loader: Loader): State {
  const name = fields.place.state ?? '';
  if (name === '' || [...name].length > 80) refuse(fields.place, 'a state name has 1 to 80 characters');
  if (machine.names.has(name)) refuse(fields.place, 'the name is used twice in this machine');
  machine.names.add(name);

  const type = fields.text('Type');
  const load = STATE_LOADERS.get(type);
  if (load === undefined) return refuse(fields.at('Type'), `'${type}' is not a state type`);
  fields.take('Comment');
  if (readQueryLanguage(fields) !== 'JSONata' && machine.language !== 'JSONata') refuseJsonPath(fields);
  const visit: (visit: Visit) => ReturnType<State['visit']> = load(fields, loader);
  fields.close();
  return { name, type, visit };
}

export type QueryLanguage = 'JSONata' | 'JSONPath';

/** The language that a machine or a state names. A state of a machine in JSONata cannot be in JSONPath, as on AWS. */
export function readQueryLanguage(fields: Fields): QueryLanguage | undefined {
  const language = fields.take('QueryLanguage');
  if (language === undefined || language === 'JSONata') return language;
  return language === 'JSONPath' && fields.place.state === undefined ? language : refuseJsonPath(fields);
}

/** Refuses JSONPath, the default of AWS, which gives the same fields another meaning. Only JSONata runs here. */
function refuseJsonPath(fields: Fields): never {
  return refuse(fields.at('QueryLanguage'), `must be 'JSONata'`);
}

function checkTargets(fields: Fields, startAt: string, targets: Targets): void {
  if (!targets.has(startAt)) refuse(fields.at('StartAt'), `there is no state '${startAt}'`);
  for (const [state, goesTo] of targets) {
    const missing = [...goesTo].find((target) => !targets.has(target));
    if (missing !== undefined)
      refuse({ machine: fields.place.machine, state }, `there is no state '${missing}' to go to`);
  }
  const reached = reachable(startAt, targets);
  for (const state of targets.keys()) {
    if (!reached.has(state)) refuse({ machine: fields.place.machine, state }, 'the state is not reachable');
  }
}

function reachable(startAt: string, targets: Targets): Set<string> {
  const reached = new Set([startAt]);
  for (const state of reached) for (const target of targets.get(state) ?? []) reached.add(target);
  return reached;
}
