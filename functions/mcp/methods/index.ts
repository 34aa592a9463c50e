import type { Call, Method, ModernCall } from '../context.ts';
import { resourcesList, resourcesRead, resourceTemplatesList } from '../files/resources.ts';
import { hasFiles, type Manifest } from '../manifest.ts';
import { initialize, ping } from './initialize.ts';
import { loggingSetLevel } from './logging-set-level.ts';
import { serverDiscover } from './server-discover.ts';
import { subscriptionsListen } from './subscriptions-listen.ts';
import { tasksCancel } from './tasks-cancel.ts';
import { tasksGet } from './tasks-get.ts';
import { tasksList } from './tasks-list.ts';
import { tasksResult } from './tasks-result.ts';
import { tasksUpdate } from './tasks-update.ts';
import { toolsCall } from './tools-call.ts';
import { toolsList } from './tools-list.ts';

const resources = [
  ['resources/list', resourcesList],
  ['resources/templates/list', resourceTemplatesList],
  ['resources/read', resourcesRead],
] as const;

/** The methods of each revision. Every other name is -32601 (docs/protocol.md 1.4). */
export const methods = {
  legacy: new Map<string, Method>([
    ...resources,
    ['initialize', initialize],
    ['ping', ping],
    ['logging/setLevel', loggingSetLevel],
    ['tools/list', toolsList],
    ['tools/call', toolsCall],
    ['tasks/get', tasksGet],
    ['tasks/result', tasksResult],
    ['tasks/list', tasksList],
    ['tasks/cancel', tasksCancel],
  ]),
  modern: new Map<string, Method<ModernCall>>([
    ...resources,
    ['server/discover', serverDiscover],
    ['tools/list', toolsList],
    ['tools/call', toolsCall],
    ['tasks/get', tasksGet],
    ['tasks/update', tasksUpdate],
    ['subscriptions/listen', subscriptionsListen],
    ['tasks/cancel', tasksCancel],
  ]),
};

/** The method of a request, if this server offers it. `offered`: the methods of its revision. */
export const methodOf = <C extends Call>(
  offered: ReadonlyMap<string, Method<C>>,
  name: string,
  manifest: Manifest,
): Method<C> | undefined => (name.startsWith('resources/') && !hasFiles(manifest) ? undefined : offered.get(name));
