import { type Receiving, receiveSignal } from '../../../../functions/engine/receive.ts';
import { byOperator } from '../../../../functions/operator/acts/act.ts';
import { McpError } from '../../../../functions/tasks/errors.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import type { Change } from '../../../../functions/tasks/transitions/change.ts';
import { awaited } from '../../../../functions/tasks/waits/waits.ts';
import { createObjects } from '../../../support/engine/objects.ts';
import type { Sent, WaitTruth } from '../checks/truth.ts';
import { checkReceived } from '../checks/waits.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { Disconnected } from './endpoint.ts';

/** When Lambda ends the function of signals, and how long all attempts of one of its calls take at most, in ms. */
const MOST = 30_000;
const CALL_TIMEOUT = 6_000;

interface Sending {
  readonly taskId: string;
  readonly name: string;
  readonly wait: WaitTruth;
  /** Who sends it: different people send different signals. */
  readonly from: string;
  readonly operator: boolean;
}

/**
 * A person answers a link, another system calls a webhook, or an operator does so in their place. Each request has its own process,
 * as the door in front of it has its own tests. Throws Disconnected if no answer comes.
 */
export function sendSignal({ taskId, name, wait, from, operator }: Sending, simulation: Simulation): Promise<void> {
  const { agenda, faults, trace, truth } = simulation;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const failed = () => reject(new Disconnected());
  const sent: Sent = wait.kind === 'link' ? { action: 'accept', content: { ok: true }, by: from } : { body: { from } };
  agenda.add({
    label: `${from} sends ${name}${operator ? ' as operator' : ''}`,
    act(draw) {
      const lost = draw(100) >= 100 - faults.rate / 2;
      if (lost) faults.struck++;
      if (lost && draw(2) === 0) return failed();
      wait.sent.push(sent);
      const process = simulation.start({
        name: `${operator ? 'operator' : 'signals'} for ${from}`,
        callTimeout: CALL_TIMEOUT,
        most: MOST,
        died: failed,
      });
      const { store } = simulation.services(process, operator ? 'operator' : 'signals');
      const key = truth.task(taskId)?.record ?? { owner: '', taskId };
      const who = { who: from, reason: 'the model' };
      const receiving: Receiving = {
        read: async () => {
          const record = await store.get(key);
          // An operator sees only what the task waits for.
          return operator && record !== undefined && !awaited(record).includes(name) ? undefined : record;
        },
        name,
        until: wait.until,
        signal: (at) => ({ ...sent, at }) as never,
        ...(operator && {
          marked: (record: TaskRecord, change: Change) => byOperator(record, change, 'signalled', who),
        }),
        sleep: process.sleep,
      };
      const context = { store, inputs: inputStore(createObjects()), log() {}, now: process.now };
      receiveSignal(receiving, context)
        .then((received) => {
          process.end();
          trace(`${from}: ${name} ${received?.outcome}${lost ? ', but the answer is lost' : ''}`);
          if (lost) return failed();
          if (received) checkReceived(received, taskId, name, agenda.now(), truth);
          resolve();
        })
        .catch((error: unknown) => {
          process.end();
          if (!(error instanceof McpError)) simulation.checkError(error, process.name);
          failed();
        });
    },
  });
  return promise;
}
