import type { ToHere } from '../api-gateway/deployed-urls.ts';
import { DEFAULT_BUS } from '../bus-name.ts';
import { objectOf } from '../json.ts';
import type { InvokeResult } from '../lambda/index.ts';
import { matchesLogicalId } from '../logical-id.ts';
import type { StatusChange } from '../step-functions/index.ts';
import { every } from '../template/schedule.ts';
import { createPauses } from '../time/timeout.ts';
import type { Operations } from '../wire/types.ts';
import { type DeliveryOptions, deliver } from './delivery.ts';
import { type Event, scheduledEvent, statusChangeEvent } from './event.ts';
import { putEvents } from './put-events.ts';
import type { Rule } from './rules.ts';

export { readBuses } from './buses.ts';
export type { Event } from './event.ts';
export { type Rule, readRules } from './rules.ts';

/** An event that a client put on a bus. */
export interface AcceptedEvent {
  /** The name of the bus. */
  readonly bus: string;
  readonly event: Event;
}

/** How many accepted events are kept for tests. */
const ACCEPTED = 10_000;

/** The rules of the template that have a schedule and are enabled. */
export interface Schedules {
  readonly names: readonly string[];
  /**
   * Runs one schedule now, or all, and waits until each target has been invoked once. Returns each result, undefined if
   * the event did not reach the target. Retries by Lambda continue in the background.
   * @param name of the rule, or its logical id, with or without the digest that CDK appends
   */
  fire(name?: string): Promise<readonly (InvokeResult | undefined)[]>;
}

interface EventBridgeOptions extends Omit<DeliveryOptions, 'pause'> {
  readonly rules: readonly Rule[];
  /** From the name of each bus to its ARN. */
  readonly buses: ReadonlyMap<string, string>;
  readonly now: () => number;
  /** Whether schedules also run on their own. */
  readonly scheduled: boolean;
  /** Changes URLs of AWS in what clients put. */
  readonly toHere: ToHere;
}

/** EventBridge: buses with the events of clients and the status changes of executions, and rules that run by schedule. */
export function createEventBridge({ rules, buses, now, scheduled, toHere, ...options }: EventBridgeOptions) {
  const { pause, end } = createPauses();
  const schedules = rules.filter(({ everyMs }) => everyMs !== undefined);

  const accepted: AcceptedEvent[] = [];
  const send = (rule: Rule, event: Event) =>
    rule.targets.map((target) => deliver(rule, target, event, { ...options, pause }));
  const publish = (bus: string, event: Event) => {
    for (const rule of rules) if (rule.bus === bus && rule.matches?.(event)) send(rule, event);
  };
  const accept = (bus: string, event: Event) => {
    accepted.push({ bus, event });
    if (accepted.length > ACCEPTED) accepted.shift();
    publish(bus, event);
  };
  const run = (rule: Rule) => send(rule, scheduledEvent(rule, now()));
  const timers = (scheduled ? schedules : []).map((rule) =>
    every((rule.everyMs ?? 0) / options.timeScale, () => void run(rule)),
  );

  const running: Schedules = {
    names: schedules.map(({ name }) => name),
    async fire(name) {
      const found = schedules.filter(
        (rule) => name === undefined || rule.name === name || matchesLogicalId(rule.logicalId, name),
      );
      if (found.length === 0) throw new Error(`there is no enabled schedule${name === undefined ? '' : ` ${name}`}`);
      return Promise.all(found.flatMap(run));
    },
  };
  const operations: Operations = {
    PutEvents: async (input) =>
      putEvents(objectOf(JSON.parse(await toHere(JSON.stringify(input)))), {
        buses,
        now,
        accept,
        onError: options.onError,
      }),
  };
  return {
    schedules: running,
    operations,
    /** The latest events that buses took from clients, the oldest first, at most `ACCEPTED`. */
    accepted: (): readonly AcceptedEvent[] => [...accepted],
    statusChanged: (change: StatusChange) => publish(DEFAULT_BUS, statusChangeEvent(change, now())),
    stop(): void {
      for (const cancel of timers) cancel();
      end();
    },
  };
}
