import { setTimeout as sleep } from 'node:timers/promises';
import type { Cloud } from '../../../../local/cloud.ts';
import { modernRequest } from '../../../support/clients.ts';
import type { Target } from '../campaign.ts';
import type { Kind } from '../fuzz-cloud.ts';
import type { WireAnswer } from '../judge/judge.ts';
import { slowCalls } from './calls.ts';

/** What one request may hold the endpoint, in ms of CPU time: a busy machine does not count. */
const MOST_CPU = 2_000;
/** Also on a busy machine a request is answered within this time. */
const GIVE_UP = 300_000;

/** The kind of `test/support/apps/slow-schema-app.ts`. */
export const slowSchemas: Kind = { calls: slowCalls, bound: () => MOST_CPU, through: measured };

/**
 * Measures each request by the CPU time of this process, in which the cloud and all its workers are threads. Beside each
 * goes a plain call, which must be answered.
 */
function measured(cloud: Cloud, { send, deeds }: Target) {
  const problems: string[] = [];
  const plain = async () => {
    const { body } = await modernRequest(`${cloud.url}/mcp`, 'tools/list');
    if (body.result?.tools === undefined) problems.push(`a plain call beside it got ${JSON.stringify(body)}`);
  };
  const inTime = <T>(answer: Promise<T>, otherwise: () => T): Promise<T> =>
    Promise.race([answer, sleep(GIVE_UP, undefined, { ref: false }).then(otherwise)]);
  return {
    problems,
    deeds,
    async send(request: Parameters<typeof send>[0]): Promise<WireAnswer> {
      const before = process.cpuUsage();
      const hung: WireAnswer = { status: 0, headers: {}, text: `no answer in ${GIVE_UP} ms`, ms: GIVE_UP };
      const [answer] = await Promise.all([
        inTime(send(request), () => hung),
        inTime(plain(), () => void problems.push(`a plain call was not answered in ${GIVE_UP} ms`)),
      ]);
      const { user, system } = process.cpuUsage(before);
      return answer === hung ? hung : { ...answer, ms: (user + system) / 1_000 };
    },
  };
}
