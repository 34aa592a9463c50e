import type { OperatorContext } from '../../../../../functions/operator/context.ts';
import { STATUSES } from '../../../../../functions/tasks/record.ts';
import { isTerminal } from '../../../../../functions/tasks/transitions/change.ts';
import type { Violation } from '../judge/judge.ts';
import type { Bug } from './operators.ts';

interface OperatorBug {
  /** What the schedules must find, and its words: all these bugs can be planted at once. */
  readonly kind: Violation['kind'];
  readonly says: RegExp;
  /** What the verbs get in place of their context. */
  readonly operators: Bug;
}

const storing = (real: OperatorContext, store: Partial<OperatorContext['store']>): OperatorContext => ({
  ...real,
  store: { ...real.store, ...store },
});

/** One for each rule of the judge of operators. */
export const operatorBugs = {
  /** An operator who loses a race reads that the act is done. */
  'acts that lost a race count as done': {
    kind: 'misreported',
    says: /was not written/,
    operators: (real) =>
      storing(real, { applyBlind: (record, change) => real.store.applyBlind(record, change).then(() => true) }),
  },
  /** A write is sent again without its conditions. */
  'acts that are written twice': {
    kind: 'acted twice',
    says: /was written 2 times/,
    operators: (real) =>
      storing(real, {
        async applyBlind(record, change) {
          const { round: _, answerCount: __, inputRef: ___, ...again } = change;
          const written = await real.store.applyBlind(record, change);
          return written && real.store.applyBlind(record, { ...again, from: STATUSES });
        },
      }),
  },
  /** Only what was done is audited. */
  'acts that fail in silence': {
    kind: 'unaudited',
    says: /has 0 audit lines/,
    operators: (real) => ({ ...real, audit: (act) => (act.done ? real.audit(act) : undefined) }),
  },
  /** Annotations are not read. */
  'reruns of tools that may not be repeated': {
    kind: 'run twice',
    says: /which may have run/,
    operators: (real) => {
      const tools = new Map([...real.server.tools].map(([name, tool]) => [name, { ...tool, repeatable: true }]));
      return { ...real, server: { ...real.server, tools } };
    },
  },
  /** A search by the end of an id does not read tasks that have ended. */
  'ends of ids that two tasks have': {
    kind: 'wrong',
    says: /has two tasks/,
    operators: (real) => ({
      ...real,
      reads: {
        ...real.reads,
        inStatus: async (status, ...asked) =>
          isTerminal(status) ? { tasks: [] } : real.reads.inStatus(status, ...asked),
      },
    }),
  },
} as const satisfies Record<string, OperatorBug>;
