import { CLIENT_CAPABILITIES, isObject, type Members, members, metaOf, type Sent, TASKS } from './rules.ts';

const KINDS: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** The capabilities that a 2026-07-28 request declares; undefined if the request is not known. */
const capabilitiesOf = ({ params }: Sent): Members | undefined =>
  params === undefined ? undefined : members(metaOf(params)[CLIENT_CAPABILITIES]);

export function declaresTasks(sent: Sent): boolean {
  const capabilities = capabilitiesOf(sent);
  return capabilities === undefined || isObject(members(capabilities.extensions)[TASKS]);
}

/** Judges input requests by the declared kinds; `elicitation: {}` is form mode only (D-22). */
export function declaredKinds(sent: Sent): (request: Members) => boolean {
  const capabilities = capabilitiesOf(sent);
  return ({ method, params }) => {
    const kind = capabilities?.[KINDS[String(method)] ?? ''];
    if (capabilities === undefined) return true;
    if (!isObject(kind)) return false;
    if (method !== 'elicitation/create') return true;
    return members(params).mode === 'url' ? isObject(kind.url) : isObject(kind.form) || !isObject(kind.url);
  };
}
