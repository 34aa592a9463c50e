/** Every bound a client or tool author can meet, in one place (docs/limits.md). */
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const KB = 1_000;

export const limits = {
  /** A task can be read for `fetch` beyond its deadline at least, whatever ttl its client asked for. */
  ttl: { default: 1 * HOUR, fetch: 300 * SECOND },
  /** So long after the deadline of its work, a task has failed to every reader: whoever died, and whatever is written. */
  deadlineGrace: 30 * SECOND,
  /**
   * And so long after it, a change is still sent. What lies between is the time that all attempts of a write may take,
   * and how much clocks may differ: no reader says failed and then something else.
   */
  lateWrite: 10 * SECOND,
  /** The record outlives both ttl and deadline by this, so that late writes still find it. */
  retention: 24 * HOUR,
  /** The sweep first looks at a task this long after its round began. */
  firstDue: 60 * SECOND,
  /** It looks again at a run that it has seen after as long as the task is old, within these bounds. */
  nextLook: { min: 300 * SECOND, max: 1 * HOUR },
  /** A workflow has so long, from the end of the state machine that it waits for, to hear of it and write the outcome. */
  unheard: 240 * SECOND,
  /**
   * A first round is started within this time of its creation or not at all: all attempts of one start take up to 20
   * seconds, and a sweep that finds nothing 5 seconds after them may say that it was never started.
   */
  startWithin: 35 * SECOND,
  /** When a client may ask again for a task that Step Functions had no room to start. */
  startRetryAfter: 5 * SECOND,
  /** An answered task that nobody has heard of for so long is started again when a client asks for it. */
  restartAfter: 15 * SECOND,
  /** When the sweep comes back to a task whose tool it does not know. */
  unknownTool: 300 * SECOND,
  /** And to a task whose record it does not understand. */
  unknownRecord: 300 * SECOND,
  dueShards: 16,
  pollInterval: { min: 1 * SECOND, max: 30 * SECOND, shareOfAge: 0.15 },
  /**
   * One task may be asked for so often per poll interval, and so many times more before that counts; the counts of so
   * many tasks are kept in one container. The conformance suite asks every 50 to 200 ms, for some seconds.
   */
  polls: { perInterval: 5, burst: 300, tasks: 1_000 },
  /** How long a call without a task waits for its result; see also `holdCap`. */
  inlineWindow: 25 * SECOND,
  /** How long one response stream is held; 2025-11-25 clients come back, 2026-07-28 ones listen again. */
  holdCap: 50 * SECOND,
  helperWait: 20 * SECOND,
  /** When a request that was one stream too many may come back. */
  streamRetryAfter: 5 * SECOND,
  requestState: 1 * HOUR,
  listenTasks: 100,
  listPage: 50,
  body: 1_000 * KB,
  /** A string as the id of a request: it comes back in each event id. */
  requestId: 1 * KB,
  jsonDepth: 64,
  arguments: 200 * KB,
  /**
   * How long values may be checked against schemas in one turn of the event loop, and how long each at least, where
   * those before it took all of that. A list of 50 results, or a stream that tells of 100, holds the endpoint for
   * 2 seconds at most.
   */
  check: { together: 0.9 * SECOND, least: 10 },
  /**
   * A result, as the JSON text a tool returned: what the workflow carries even if every byte needs an escape, and what
   * a wrapped tool may store beside it. Below the 6 MiB that a function can return to a direct call. Nested deeper,
   * it could be parsed, but not be written again.
   */
  result: { inline: 128 * KB, stored: 6_000 * KB, depth: 500 },
  /** Questions, request state, arguments and earlier answers together, with their escapes: room is left for answers. */
  asked: 240 * KB,
  inputResponses: 32 * KB,
  /**
   * Bytes of arguments, questions and answers that a record holds together; more lies in S3. With the rest of a record,
   * that is under 4 KB, which one read unit reads.
   */
  inlineInput: 1_500,
  /** Of a task, over all rounds: with what the workflow writes of a round, 256 KiB at most, an item of 400 KB holds them. */
  answers: 140 * KB,
  /** Answers to one question that are not valid: the last one fails the task (2025-11-25, where it is asked again). */
  refusals: 5,
  statusMessage: 500,
  /** Characters of a progress token: it lies in the record as long as the task works. */
  progressToken: 256,
  /** Step Functions' hard limit on an execution's input. */
  executionInput: 262_144,
  session: 24 * HOUR,
  /** The stream that a 2025-11-25 session opens by GET: see `functions/mcp/stream/session-stream.ts`. */
  sessionStream: {
    /** From the poll that finds a question until it is asked there, in case the client goes on to tasks/result. */
    grace: 1.5 * SECOND,
    /** A held call leaves a question to this stream for so long after it was sent there. */
    silence: 60 * SECOND,
    /** A question without an answer is asked again after this, if its client still polls. */
    askAgain: 180 * SECOND,
    /** A client that comes back without an event id is asked again after this at the earliest; see also `holdCap`. */
    askHereAgain: 30 * SECOND,
    /** When to come back: a share of the time since a task last asked. */
    retry: { min: 1 * SECOND, max: 30 * SECOND, shareOfIdle: 0.15 },
    /** Looked at by one stream. */
    tasks: 50,
    /** Questions, and tasks, that a session remembers. */
    notes: 300,
  },
  /** Slots of an owner's open tasks: see `functions/tasks/table/open-task-slots.ts`. */
  openTaskSlots: {
    /** So many are kept without looking which are free, and twice what is open: taking one stays cheap. */
    small: 32,
    /** A task that is not there so long after it took its slot never came to be. */
    createdWithin: 60 * SECOND,
    /** An owner without a free slot is refused for so long without another look. A cancel ends that. */
    full: 2 * SECOND,
    /** Of a full set, so many of the newest slots are looked at first. */
    newest: 10,
  },
} as const;
