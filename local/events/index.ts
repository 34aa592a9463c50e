import type { InvokeResult } from '../lambda/index.ts';
import { matchesLogicalId } from '../logical-id.ts';
import type { StatusChange } from '../step-functions/index.ts';
import { every } from '../template/schedule.ts';
import { createPauses } from '../time/timeout.ts';
import { type DeliveryOptions, deliver } from './delivery.ts';
import { scheduledEvent, statusChangeEvent } from './event.ts';
import type { Rule } from './rules.ts';

export { type Rule, readRules } from './rules.ts';

/** EventBridge: the default bus with the status changes of executions, and rules that run by schedule. */
export interface EventBridge {
  readonly schedules: Schedules;
  statusChanged(change: StatusChange): void;
  stop(): void;
}

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

export interface EventBridgeOptions extends Omit<DeliveryOptions, 'pause'> {
  readonly rules: readonly Rule[];
  readonly now: () => number;
  /** Whether schedules also run on their own. */
  readonly scheduled: boolean;
}

export function createEventBridge({ rules, now, scheduled, ...options }: EventBridgeOptions): EventBridge {
  const { pause, end } = createPauses();
  const schedules = rules.filter(({ everyMs }) => everyMs !== undefined);

  const send = (rule: Rule, event: ReturnType<typeof scheduledEvent>) =>
    rule.targets.map((target) => deliver(rule, target, event, { ...options, pause }));
  const run = (rule: Rule) => send(rule, scheduledEvent(rule, now()));
  const timers = (scheduled ? schedules : []).map((rule) =>
    every((rule.everyMs ?? 0) / options.timeScale, () => void run(rule)),
  );

  return {
    schedules: {
      names: schedules.map(({ name }) => name),
      async fire(name) {
        const found = schedules.filter(
          (rule) => name === undefined || rule.name === name || matchesLogicalId(rule.logicalId, name),
        );
        if (found.length === 0) throw new Error(`there is no enabled schedule${name === undefined ? '' : ` ${name}`}`);
        return Promise.all(found.flatMap(run));
      },
    },
    statusChanged(change) {
      const event = statusChangeEvent(change, now());
      for (const rule of rules) if (rule.matches?.(event)) send(rule, event);
    },
    stop() {
      for (const cancel of timers) cancel();
      end();
    },
  };
}
