import { cpSync } from 'node:fs';
import { changeAssembly } from '../../../support/change-assembly.ts';
import type { Violation } from './judge/judge.ts';
import { operatorBugs } from './operators/bugs.ts';
import type { Bug as OperatorBug } from './operators/operators.ts';
import { runSchedules, type ScheduleOptions } from './schedules.ts';

interface Bug {
  /** What the schedules must find. */
  readonly kind: Violation['kind'];
  /** Only with this engine. @default standard */
  readonly engine?: 'express';
  /** A file of the cloud assembly, and what it becomes. */
  readonly file?: (name: string) => boolean;
  readonly plant?: (text: string) => string;
  /** What operators use in place of their context. */
  readonly operators?: OperatorBug;
}

const isTemplate = (name: string) => name.endsWith('.template.json');
const isCode = (name: string) => name.endsWith('.js');
/** The workflows are files of the assembly. */
const isWorkflow = (name: string) => /asset\.[0-9a-f]+\.json$/.test(name);

/**
 * Bugs that the random schedules must find: each takes away one thing that repair needs (docs/architecture/tasks.md,
 * "Repair").
 */
export const bugs = {
  /** Finish writes without a condition. */
  'unconditional finish': {
    kind: 'overwritten',
    file: isWorkflow,
    plant: (text) =>
      text.replaceAll(
        '#status = :working AND #round = :inRound AND #deadlineAt >= :latest',
        // All names and values have to be used.
        'attribute_exists(#status) OR #status = :working OR #round = :inRound OR #deadlineAt >= :latest',
      ),
  },
  /** Each start of a round has another name. */
  'no name idempotency': {
    kind: 'run twice',
    file: isCode,
    plant: (text) =>
      text.replace(
        /(stateMachineArn:[\w$]+\+[\w$]+\([\w$]+\),name:[\w$]+)(?=,input:)/,
        '$1+"-"+Math.random().toString(36).slice(2)',
      ),
  },
  /** No sweep looks for what a crash left behind. */
  'no sweep': {
    kind: 'stuck',
    file: isTemplate,
    // Only what has a schedule: ends of runs are heard of as ever.
    plant: (text) => text.replaceAll(/("ScheduleExpression": "[^"]*",\s*"State": )"ENABLED"/g, '$1"DISABLED"'),
  },
  /** A tool that was too busy is not called again. */
  'no second try': {
    kind: 'unexplained',
    file: isWorkflow,
    plant: (text) => text.replaceAll('? 2500 : 0;', '? 0 : 0;'),
  },
  /** A run that may have happened is repeated, also if the tool may not be repeated. */
  'retry of every tool': {
    kind: 'run twice',
    file: isWorkflow,
    plant: (text) => text.replace('$not($states.context.Execution.Input.tool in ${RepeatableTools})', 'false'),
  },
  /** A stream never tells of an end. */
  'streams without an end': {
    kind: 'lost',
    file: isCode,
    plant: (text) =>
      text.replace(
        /(\.filter\(([\w$]+)=>)([\w$]+\(\2,[\w$]+\.get\(\2\.taskId\)\))/,
        '$1!["completed","failed","cancelled"].includes($2.status)&&$3',
      ),
  },
  /** A tool refers to its result, and does not store it. */
  'results that are not stored': {
    kind: 'lost',
    file: isCode,
    plant: (text) =>
      text.replace(/await [\w$]+\("stored",\(([\w$]+),([\w$]+)\)=>\1\.put\([\w$]+\([\w$]+\),[\w$]+,\2\)\)/, '0'),
  },
  /** A direct tool is invoked once more, and that answer counts. */
  'direct calls made twice': {
    kind: 'run twice',
    file: isCode,
    plant: (text) =>
      text.replace(
        /(FunctionError:[\w$]+\}=)await ([\w$]+)\(([\w$]+\([\w$]+,[\w$]+\),[\w$]+,[\w$]+)\)/,
        '$1(await $2($3),await $2($3))',
      ),
  },
  /** A delivery that EventBridge did not take counts as told. */
  'events that are not repeated': {
    kind: 'untold',
    file: isCode,
    plant: (text) =>
      text.replace(/batchItemFailures:([\w$]+)===void 0\?\[\]:\[\{itemIdentifier:\1\}\]/, 'batchItemFailures:[]'),
  },
  /** Readers do not check the ttl. */
  'tasks that never expire': {
    kind: 'not gone',
    file: isCode,
    plant: (text) => text.replace(/if\([\w$]+>=([\w$]+)\.createdAt\+\1\.ttl\)return/, 'if(false)return'),
  },
  /** The time of a wait is never over, and what it waits for never there. */
  'waits that never end': {
    kind: 'stuck',
    file: isCode,
    plant: (text) => text.replace(/(!==void 0&&[\w$]+\([\w$]+\))<=([\w$]+\})/, '$1<0*$2'),
  },
  /** A later signal counts, too. */
  'signals that replace another': {
    kind: 'wrong',
    file: isCode,
    plant: (text) => text.replace(/[\w$]+!==void 0\|\|([\w$]+\|\|[\w$]+>=[\w$]+\.until\))/, '$1'),
  },
  /** A run does not know in which order earlier runs got past their waits. */
  'races that end differently': {
    kind: 'wrong',
    file: isCode,
    plant: (text) => text.replace(/(passOf:[\w$]+=>)[\w$]+\(\)\.passes\(\)\.get\([\w$]+\)/, '$1void 0'),
  },
  /** The sweep takes a run on Express for alive as long as its task is. */
  'express runs that stay lost': {
    kind: 'unexplained',
    engine: 'express',
    file: isCode,
    plant: (text) => text.replace(/\{kind:[\w$]+,start:!0,claim:!0,/, '{kind:"postponed",'),
  },
  /** An answer that was sent before starts its round again, on Express as well. */
  'express answers that each start a run': {
    kind: 'run twice',
    engine: 'express',
    file: isCode,
    plant: (text) =>
      text.replace(
        /if\(([\w$]+)\.round===1\|\|[\w$]+\(\1\)\|\|([\w$]+)\.now\(\)>=\1\.deadlineAt\|\|[^;]*?\)return/,
        'if($1.round===1)return',
      ),
  },
  ...operatorBugs,
} as const satisfies Record<string, Bug>;

export type BugName = keyof typeof bugs;

/** The bugs of one engine, and the one that both must find. */
export const bugsOf = (engine: string): BugName[] =>
  (Object.keys(bugs) as BugName[]).filter((name) => {
    const bug: Bug = bugs[name];
    return (bug.engine ?? 'standard') === engine || name === 'unconditional finish';
  });

/** Copies the assembly to `folder`, and plants the bugs there. Throws where the code that one changes is another by now. */
export function plant(names: readonly BugName[], assembly: string, folder: string): void {
  cpSync(assembly, folder, { recursive: true });
  for (const name of names) {
    const bug: Bug = bugs[name];
    if (bug.file === undefined || bug.plant === undefined) throw new Error(`'${name}' is not in the assembly`);
    changeAssembly(folder, bug.file, bug.plant);
  }
}

/** The schedules of these seeds, with a bug. Copies the assembly to `folder` if the bug is in it. */
export function runWith(
  name: BugName,
  assembly: string,
  folder: string,
  seeds: Iterable<number>,
  more?: ScheduleOptions,
) {
  const { operators }: Bug = bugs[name];
  if (operators !== undefined) return runSchedules(assembly, seeds, { ...more, bug: operators });
  plant([name], assembly, folder);
  return runSchedules(folder, seeds, more);
}
