/** The routes of the console. The token is the first part of the path of the page. */
const token = location.pathname.split('/')[1] ?? '';

/** A refusal of the console, with the sentence that says why. */
export class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * @template T
 * @param {string} route
 * @param {Record<string, string>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export function read(route, query = {}, signal) {
  return ask(`api/${route}?${new URLSearchParams(query)}`, signal === undefined ? {} : { signal });
}

/**
 * @param {string} route
 * @param {import('../routes.ts').ActRequest} request
 * @returns {Promise<import('../../../functions/operator/acts/act.ts').Outcome>}
 */
export function act(route, request) {
  const headers = { 'content-type': 'application/json', 'x-console-token': token };
  return ask(`api/${route}`, { method: 'POST', headers, body: JSON.stringify(request) });
}

/** @param {string} path @param {RequestInit} init */
async function ask(path, init) {
  const response = await fetch(path, { ...init, cache: 'no-store' }).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new Refused(503, 'The console does not answer: is its process still there?');
  });
  const body = await response.json();
  if (!response.ok) throw new Refused(response.status, body.error);
  return body;
}
