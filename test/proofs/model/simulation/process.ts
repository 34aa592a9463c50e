import type { Agenda } from './agenda.ts';
import type { Draw } from './draw.ts';

/** What can happen to a call: nothing wrong; or it goes wrong at the service, on its way, or with who made it. */
const FATES = ['slow', 'refused', 'unheard', 'repeated', 'late', 'dies before', 'dies after', 'dies, late'] as const;
type Fate = 'ok' | (typeof FATES)[number];

/** What cannot die fails in another way. */
const IMMORTAL: Partial<Record<Fate, Fate>> = {
  'dies before': 'refused',
  'dies after': 'unheard',
  'dies, late': 'late',
};

/** How much goes wrong in a run. */
export interface Faults {
  /** Of 100 calls, how many. */
  rate: number;
  /** What these calls begin with: more than half of them. Empty: none is singled out. */
  focus: string;
  /** From when to when none of the latter is taken (empty: no call at all), in s from the beginning. */
  outage: readonly [from: number, until: number];
  /** Bits: which of the fates there are. */
  readonly kinds: number;
  /** How often something has gone wrong. */
  struck: number;
}

export interface Life {
  readonly name: string;
  /** How long one of its calls takes at most, with all attempts of the SDK, in ms. */
  readonly callTimeout: number;
  /** When Lambda ends it, in ms from its start. @default it is not a process that could die */
  readonly most?: number;
  /** How wrong its clock is, in ms. */
  readonly skew?: number;
  readonly died?: () => void;
}

/** One invocation of a function, or a service. It makes calls, and can die between any two of them. */
export interface Process {
  readonly name: string;
  now(): number;
  /** Makes a call, which is carried out at one instant, if it is. `stale`: what may be a little behind is. */
  call<T>(what: string, carryOut: (stale: boolean) => T): Promise<T>;
  sleep(ms: number): Promise<void>;
  die(): void;
  /** It has done all it had to do. */
  end(): void;
}

/** No answer came, with nothing to tell why. */
export class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

const SECOND = 1_000;
const FOCUSED = 60;

export function startProcess(life: Life, agenda: Agenda, faults: Faults, trace: (line: string) => void): Process {
  const { began } = agenda;
  const { name, callTimeout, most, skew = 0, died } = life;
  let alive = true;
  const die = () => {
    if (!alive || most === undefined) return;
    alive = false;
    outlived?.();
    faults.struck++;
    trace(`${name} dies`);
    died?.();
  };
  const outlived = most === undefined ? undefined : agenda.at(agenda.now() + most, die);

  const fateOf = (draw: Draw, what: string): Fate => {
    const [from, until] = faults.outage;
    const elapsed = (agenda.now() - began) / SECOND;
    const focused = what.startsWith(faults.focus);
    if (focused && from <= elapsed && elapsed < until) return 'refused';
    const rate = focused && faults.focus !== '' ? Math.max(faults.rate, FOCUSED) : faults.rate;
    if (draw(100) < 100 - rate) return 'ok';
    const enabled = FATES.filter((_, i) => ((faults.kinds >> i) & 1) === 1);
    const fate = enabled[draw(Math.max(1, enabled.length))] ?? 'ok';
    return most === undefined ? (IMMORTAL[fate] ?? fate) : fate;
  };

  const call = <T>(what: string, carryOut: (stale: boolean) => T): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const label = `${name}: ${what}`;
    const by = agenda.now() + callTimeout;
    let attempts = 0;
    const make = (draw: Draw): (() => void) => {
      try {
        const stale = faults.rate > 0 && draw(3) === 1;
        if (stale) faults.struck++;
        const answer = carryOut(stale);
        return () => resolve(answer);
      } catch (error) {
        trace(`  ${(error as Error).name}`);
        const { $metadata } = error as { $metadata?: object };
        if ($metadata !== undefined) Object.assign($metadata, { attempts });
        return () => reject(error);
      }
    };
    const later = (draw: Draw) => agenda.add({ label: `${label}, late`, by, act: () => void make(draw) });
    const act = (draw: Draw): void => {
      if (!alive) {
        // Sent before it died: it may still come in.
        if (draw(2) === 1) make(draw);
        return;
      }
      attempts++;
      const fate = fateOf(draw, what);
      if (fate !== 'ok' && fate !== 'slow') faults.struck++;
      trace(`${label}: ${fate}`);
      switch (fate) {
        case 'ok':
          make(draw)();
          break;
        case 'slow': {
          const answer = make(draw);
          agenda.add({
            label: `answer to ${label}`,
            by,
            act: () => alive && answer(),
            expire: () => alive && timeOut(),
          });
          break;
        }
        case 'refused':
          reject(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException', $metadata: { attempts } }));
          break;
        case 'unheard':
          make(draw);
          timeOut();
          break;
        case 'repeated':
          make(draw);
          agenda.add({ label: `${label} (again)`, by, act, expire: timeOut });
          break;
        case 'late':
          timeOut();
          later(draw);
          break;
        case 'dies before':
          die();
          break;
        case 'dies after':
          make(draw);
          die();
          break;
        case 'dies, late':
          die();
          later(draw);
      }
    };
    const timeOut = () => {
      faults.struck++;
      reject(new TimedOut('No answer in time'));
    };
    if (alive) agenda.add({ label, by, act, expire: timeOut });
    return promise;
  };

  return {
    name,
    now: () => agenda.now() + skew,
    call,
    sleep: (ms) =>
      // Whole seconds: what a run can do stays few enough to be met again.
      new Promise((resolve) =>
        agenda.at(agenda.now() + Math.ceil(ms / SECOND) * SECOND, () => {
          if (alive) resolve();
        }),
      ),
    die,
    end() {
      alive = false;
      outlived?.();
    },
  };
}
