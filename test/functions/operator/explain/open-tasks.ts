import { limits } from '../../../../functions/tasks/limits.ts';
import { asking, EXPRESS_TOOL, T0, task } from '../operators.ts';
import { by, OLD, OWN, REPEATABLE, type Scenario, state, TOMORROW, waiting } from './scenario.ts';

/** Tasks whose records say that they are open. Readers may see some as ended. */
export const OPEN_TASKS: Readonly<Record<string, Scenario>> = {
  'completed, past its ttl': { record: task({ status: 'completed' }), now: task().ttl },
  'open, past its ttl': { record: task({ deadlineAt: T0 + 2 * task().ttl }), now: task().ttl },
  asks: { record: asking(['a'], { round: 2 }) },
  'asks, after answers that were not valid': { record: asking(['a'], { events: [{ at: T0, what: 'refused' }] }) },
  'asks again, after answers of an earlier round that were not valid': {
    record: asking(['a'], {
      round: 2,
      events: [
        { at: T0, what: 'refused' },
        { at: T0, what: 'asked', round: 2 },
      ],
    }),
  },
  'asks again, after answers of this round that were not valid': {
    record: asking(['a'], {
      round: 2,
      events: [
        { at: T0, what: 'asked' },
        { at: T0, what: 'refused', round: 2 },
      ],
    }),
  },
  'asked, past its ttl': { record: asking(['a'], { deadlineAt: T0 + 2 * task().ttl }), now: task().ttl },
  'asked, and got no answer': { record: asking(), now: asking().deadlineAt - T0 + 30_001 },
  'sleeps until tomorrow': {
    record: waiting(`"night":{"kind":"time","until":${TOMORROW}}`),
  },
  'waits for a person': {
    record: waiting(`"approval":{"kind":"link","until":${TOMORROW}}`),
  },
  'waits for a system that has answered': {
    record: waiting(`"job":{"kind":"webhook","until":${TOMORROW}}`, { signalled: ['job'] }),
  },
  'waits for a person, whose time is over': { record: waiting(`"approval":{"kind":"link","until":${T0 + 1}}`) },
  'waits for two, one of which has answered': {
    record: waiting(`"a":{"kind":"link","until":${TOMORROW}},"b":{"kind":"webhook","until":${TOMORROW}}`, {
      signalled: ['a'],
    }),
  },
  'waited for a person until its deadline': {
    record: waiting(`"approval":{"kind":"link","until":${TOMORROW}}`),
    now: task().deadlineAt - T0 + 30_001,
  },
  'slept until its deadline': {
    record: waiting(`"night":{"kind":"time","until":${TOMORROW}}`),
    now: task().deadlineAt - T0 + 30_001,
  },
  'waits in a form that is not valid': { record: waiting('"night":{"kind":"never"}') },
  'has more to do': { record: waiting('"more":{"kind":"more"}') },
  'works, its tool was removed': { record: task(), tool: null },
  'throttled once': { record: task(), run: 'RUNNING', failures: ['Lambda.TooManyRequestsException'] },
  'throttled twice': { record: task(), run: 'RUNNING', failures: ['Lambda.ENILimitReached', 'Lambda.EFSMountTimeout'] },
  'throttled, and its run has ended': { record: task(), run: 'FAILED', failures: ['Lambda.TooManyRequestsException'] },
  'crashed once': { record: task(), run: 'RUNNING', failures: ['Runtime.ExitError'] },
  'throttled, then crashed': {
    record: task(),
    run: 'RUNNING',
    failures: ['Lambda.TooManyRequestsException', 'Runtime.ExitError'],
  },
  'crashed, then threw an error': { record: task(), run: 'RUNNING', failures: ['Runtime.ExitError', 'TypeError'] },
  'crashed, and its run has ended': { record: task(), run: 'FAILED', failures: ['Runtime.ExitError'] },
  'cancelled while its run tries again after a crash': {
    record: task({ status: 'cancelled', ...by('cancelled', {}) }),
    ...{ run: 'RUNNING', failures: ['Runtime.ExitError'] },
  },
  'crashed twice, may be repeated': {
    record: task(),
    tool: REPEATABLE,
    run: 'RUNNING',
    failures: ['Sandbox.Timedout', 'Lambda.Unknown'],
  },
  'made 35 s ago, no run': { record: task(), now: limits.startWithin },
  'made more than 35 s ago, no run': { record: task(), now: OLD },
  'made more than 35 s ago, its run was seen': { record: task({ seenRound: 1 }), now: OLD },
  'answered 35 s ago, no run': { record: task({ round: 2 }), now: limits.startWithin },
  'answered more than 35 s ago, no run': { record: task({ round: 2, seenRound: 1 }), now: OLD },
  'answered more than 35 s ago, its run was seen': { record: task({ round: 2, seenRound: 2 }), now: OLD },
  'works, its run has failed': { record: task(), run: 'FAILED', error: 'TypeError' },
  'works, its run has succeeded': { record: task(), run: 'SUCCEEDED' },
  'on Express': { record: task({ engine: 'express' }), tool: EXPRESS_TOOL },
  'on Express, started again in this round': {
    record: task({ engine: 'express', events: [{ at: T0, what: 'restarted' }] }),
    tool: EXPRESS_TOOL,
  },
  'on Express, started again in another round': {
    record: task({ engine: 'express', round: 2, events: [{ at: T0, what: 'restarted' }] }),
    tool: EXPRESS_TOOL,
  },
  'on Express, its tool may not be repeated any more': { record: task({ engine: 'express' }) },
  'on Standard, its tool is on Express now': { record: task(), run: 'RUNNING', tool: EXPRESS_TOOL },
  'deployed when its run began': { record: task(), run: 'RUNNING', tool: { changedAt: T0 } },
  'deployed after its run began': { record: task(), run: 'RUNNING', tool: { changedAt: T0 + 1 } },
  'deployed after it was created, and before its run began': {
    record: task({ createdAt: T0 - 2 }),
    ...{ run: 'RUNNING', tool: { changedAt: T0 - 1 } },
  },
  works: { record: task(), run: 'RUNNING' },
  'works in a state': {
    record: task(),
    run: 'RUNNING',
    tool: { stateMachineArn: OWN },
    states: [state(1, 'TaskStateEntered', 'Charge')],
  },
  'works in two branches, after a state that it has left': {
    record: task(),
    ...{ run: 'RUNNING', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'TaskStateEntered', 'Charge'),
      { ...state(2, 'TaskStateExited'), stateExitedEventDetails: { name: 'Charge' } },
      ...['Pack', 'Notify', 'Pack'].map((name, i) => ({
        ...state(3 + i, 'TaskStateEntered', name),
        previousEventId: 2,
      })),
    ],
  },
  'works, between two states': {
    record: task(),
    ...{ run: 'RUNNING', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'PassStateEntered', 'Charge'),
      { ...state(2, 'PassStateExited'), stateExitedEventDetails: { name: 'Charge' } },
    ],
  },
  'works, after one failed try in each of two states': {
    record: task(),
    ...{ run: 'RUNNING', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'TaskStateEntered', 'Charge'),
      state(2, 'TaskFailed', undefined, 'Throttled'),
      { ...state(3, 'TaskStateExited'), stateExitedEventDetails: { name: 'Charge' } },
      state(4, 'TaskStateEntered', 'Notify'),
      state(5, 'TaskFailed', undefined, 'States.Timeout'),
    ],
  },
  'works, after failed tries in a state': {
    record: task(),
    ...{ run: 'RUNNING', tool: { stateMachineArn: OWN } },
    states: [
      state(1, 'TaskStateEntered', 'Charge'),
      state(2, 'TaskScheduled'),
      state(3, 'TaskFailed', undefined, 'Throttled'),
      state(4, 'TaskScheduled'),
      state(5, 'TaskFailed', undefined, 'Throttled'),
    ],
  },
};
