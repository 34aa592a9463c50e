import { limits } from '../../tasks/limits.ts';
import { isObject } from '../../tasks/shape.ts';
import type { InputRequest, Signal, StoredWait, ToolEvent } from '../../tasks/tool-contract.ts';
import { signalPlace, signalUrl } from '../../tasks/waits/signal-url.ts';
import type { Clock } from '../clock.ts';
import { ToolError } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { Names } from '../journal/names.ts';
import type { JournalPort } from '../journal/port.ts';
import { fitting } from '../questions.ts';
import { type InputSchema, isStandardSchema, jsonSchemaOf, parsedBy } from '../schema.ts';
import { type Duration, endOf, msOf, type Until } from './duration.ts';
import type { Ending } from './round-end.ts';
import type { TimedOut, WebhookOptions, Within } from './signals.ts';

/** The parts of a run that its waits need. */
export interface WaitingRun {
  readonly event: ToolEvent;
  readonly journal: Journal;
  readonly names: Names;
  readonly port: Pick<JournalPort, 'writePlace'>;
  readonly ending: Ending;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long this run may still work, in ms. Negative: its round has to end. */
  readonly spare: () => number;
}

type StoredOf<K> = StoredWait & { readonly kind: K };
/** Checks once whether what a tool waits for is there. */
export type Check<T> = () => T | undefined | false | Promise<T | undefined | false>;

type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export interface Polling extends Within {
  /** How long it waits between two checks, at least a second. @example { minutes: 5 } */
  readonly every: Duration;
}

/** In ms. */
const SHORTEST_PAUSE = 1_000;
const NOT_YET = Symbol('The check has found nothing');

export type Waits = ReturnType<typeof openWaits>;

/** Whether the round of a call can end with waits: a task, and a workflow that takes envelopes. */
export const canWait = ({ task }: ToolEvent): boolean => task?.envelope === 1;

/** The waits of one run: what the task waits for, by names. */
export function openWaits({ event, journal, names, port, ending, clock, signal, spare }: WaitingRun) {
  const { task } = event;
  const deadline = task?.taskDeadline ?? task?.deadline ?? Number.POSITIVE_INFINITY;

  /** The end of a wait that begins now. Throws a ToolError if it cannot end in time. */
  function endInTime(label: string, time: Duration | Until): number {
    const until = endOf(label, time, clock.now());
    if (!canWait(event)) {
      if (until - clock.now() <= limits.waits.inside) return until;
      throw new ToolError(
        `${label}: without a task it can wait for ${limits.waits.inside / 1_000} seconds: call the tool as a task`,
      );
    }
    if (until <= deadline) return until;
    const end = new Date(deadline).toISOString();
    throw new ToolError(`${label} ends after the deadline of its task, ${end}: give the tool a longer timeout`);
  }

  /** Stores a wait once for all runs of the task, and returns what is stored. A call without a task stores none. */
  function stored<K extends StoredWait['kind']>(
    kind: K,
    label: string,
    name: string,
    make: () => StoredOf<K> | Promise<StoredOf<K>>,
  ) {
    return names.keep('wait', name, label, async () => {
      if (!canWait(event)) return await make();
      const found = await ending.decide(journal.once('wait', name, make));
      if (isObject(found) && found.kind === kind && Number.isFinite(found.until))
        return found as unknown as StoredOf<K>;
      throw new Error(`${label} was another kind of wait in an earlier run: give each wait its own name`);
    });
  }

  /** Waits until a moment: in the run if it comes soon and the run may wait for it, in other rounds if not. */
  async function reach(name: string, until: number, mayStay = true): Promise<void> {
    for (let rest = until - clock.now(); rest > 0; rest = until - clock.now()) {
      const inside = !canWait(event) || (mayStay && rest <= limits.waits.inside && rest <= spare());
      if (!inside) await ending.end({ waits: { [name]: { kind: 'time', until } } });
      await ending.work(() => clock.sleep(rest, signal), { sleeps: true });
    }
  }

  /** The wait for a signal, with its URL. The place and the wait are stored first: so an early signal finds them. */
  async function signalled<K extends 'link' | 'webhook'>(
    kind: K,
    name: string,
    { within }: Within,
    make: (label: string, until: number) => StoredOf<K>,
  ) {
    const label = `${kind === 'link' ? 'Link' : 'Webhook'} '${name}'`;
    if (!canWait(event)) throw new ToolError(`${label} needs a task: call the tool as a task`);
    const place = task?.signals;
    if (task === undefined || place === undefined) {
      throw new ToolError(`${label} needs a URL of the server, which this task does not have: call the tool again`);
    }
    const wait = await stored(kind, label, name, async () => {
      const made = make(label, endInTime(label, within));
      await port.writePlace(task, signalPlace(place.key));
      return made;
    });
    const signals = event.signals ?? {};
    const signal = Object.hasOwn(signals, name) ? signals[name] : undefined;
    /** Returns what has come, or ends the round. */
    const wanted = async <T>(found: (given: Signal) => T | undefined): Promise<T | TimedOut> => {
      const fits = signal && !('timedOut' in signal) ? found(signal) : undefined;
      // A signal that does not fit is none. The server has no other for this wait.
      const isOver = signal !== undefined && ('timedOut' in signal || clock.now() >= wait.until);
      if (fits === undefined && !isOver) await ending.end({ waits: { [name]: { kind, until: wait.until } } });
      await ending.pass(name);
      return fits ?? { timedOut: true };
    };
    return { label, wait, wanted, url: signalUrl(place, name) };
  }

  return {
    /** Asks on a page of the server. */
    async link(name: string, question: InputRequest, times: Within) {
      const { wait, wanted, url } = await signalled('link', name, times, (label, until) => {
        if (question?.method === 'elicitation/create' && question.params?.mode !== 'url') {
          return { kind: 'link', until, question };
        }
        throw new ToolError(`${label} asks by a form: make its question by elicitForm`);
      });
      const answer = () => wanted((given) => ('action' in given ? fitting(wait.question, given) : undefined));
      return { url, until: wait.until, answer };
    },

    /** Takes what another system sends. */
    async webhook(name: string, { schema, ...times }: WebhookOptions<InputSchema | undefined>) {
      const { label, wait, wanted, url } = await signalled('webhook', name, times, (_label, until) => {
        const wait = { kind: 'webhook', until } as const;
        return schema === undefined ? wait : { ...wait, schema: jsonSchemaOf('schema', schema, 'input') };
      });
      const received = async () => {
        const found = await wanted((given) => ('body' in given ? given : undefined));
        if (!('body' in found) || !isStandardSchema(schema)) return found;
        const fail = (problems: string) => new ToolError(`${label} got what does not fit its schema: ${problems}`);
        return { ...found, body: await parsedBy(schema, found.body, fail) };
      };
      return { url, until: wait.until, received };
    },

    /** Checks again and again, until there is something. What it finds is the result of a step. */
    async until<T>(step: Step, name: string, check: Check<T>, { every, within }: Polling) {
      const label = `Wait '${name}'`;
      const pause = msOf(`${label}: every`, every);
      if (pause < SHORTEST_PAUSE) throw new ToolError(`${label}: every is at least a second`);
      const { until } = await stored('time', label, name, () => ({ kind: 'time', until: endInTime(label, within) }));
      for (;;) {
        const isLast = clock.now() >= until;
        const found = await step(name, async () => {
          const value = await check();
          if (value !== undefined && value !== false) return value;
          if (isLast) return { timedOut: true } as const;
          throw NOT_YET;
        }).catch((error: unknown) => {
          if (error !== NOT_YET) throw error;
          return NOT_YET;
        });
        if (found !== NOT_YET) {
          await ending.pass(name);
          return found;
        }
        // A poll in a step does not keep the round from its end.
        await reach(name, Math.min(clock.now() + pause, until), !ending.begun());
      }
    },

    async sleep(name: string, time: Duration | Until): Promise<void> {
      const label = `Sleep '${name}'`;
      const { until } = await stored('time', label, name, () => ({ kind: 'time', until: endInTime(label, time) }));
      await reach(name, until);
      await ending.pass(name);
    },
  };
}
