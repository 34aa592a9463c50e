/** Every bound a client or tool author can meet, but the times of a run: `engines.ts` (docs/limits.md). */
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const KB = 1_000;

/** In ms. */
export const DAY = 24 * HOUR;
/** The most that `maxTtl` may be, in ms. */
export const MAX_TTL = 366 * DAY;

export const limits = {
  /** A task can be read for at least `fetch` after its deadline, even if its client asked for a shorter ttl. */
  ttl: { default: 1 * HOUR, fetch: 300 * SECOND },
  /** After the deadline plus this, every reader sees an unfinished task as failed. No write can change that. */
  deadlineGrace: 30 * SECOND,
  /**
   * Writers stop this long after the deadline. The 20 s that remain until `deadlineGrace` are for retries and for
   * clocks that differ, so no reader sees `failed` and later another outcome.
   */
  lateWrite: 10 * SECOND,
  /** The record stays this long after its ttl and its deadline, so late writes find it. */
  retention: 24 * HOUR,
  /** The sweep first checks a task this long after its round began. */
  firstDue: 60 * SECOND,
  /** It checks a run that it has seen again after the current age of the task, within these bounds. */
  nextCheck: { min: 300 * SECOND, max: 1 * HOUR },
  /** How long a workflow may take to write the outcome after the end of the state machine that it waits for. */
  unheard: 240 * SECOND,
  /**
   * A first round starts within this time of its creation or not at all. All attempts of one start take up to 20
   * seconds. A sweep that finds no execution 5 seconds after them may fail the task as never started.
   */
  startWithin: 35 * SECOND,
  /** When a client may send the call again that Step Functions had no room to start. */
  startRetryAfter: 5 * SECOND,
  /** A read starts an answered round again if nothing has changed in the task for this time. */
  restartAfter: 15 * SECOND,
  /** Rounds that one read starts again. */
  restarts: 10,
  /**
   * Runs that the sweep checks in a second, unless the server's option says otherwise. DescribeExecution allows 10 or 15 calls a
   * second per account, by region. This leaves some to others.
   */
  sweepChecks: 6,
  /** When the sweep comes back to a task whose tool it does not know. */
  unknownTool: 300 * SECOND,
  /** When the sweep comes back to a task whose record it does not understand. */
  unknownRecord: 300 * SECOND,
  dueShards: 16,
  /** Partitions of each status in the index of operators. DynamoDB writes 1,000 units a second into a partition. */
  statusShards: 8,
  pollInterval: { min: 1 * SECOND, max: 30 * SECOND, shareOfAge: 0.15 },
  /**
   * A token bucket per task and container: `perInterval` polls refill it per poll interval, it holds `burst`, and a
   * container keeps the buckets of `tasks`. The conformance suite polls every 50 to 200 ms for some seconds.
   */
  polls: { perInterval: 5, burst: 300, tasks: 1_000 },
  /**
   * Requests that read many tasks, such as `tasks/list`. Each container serves an owner one each `free` ms. It counts the others in
   * the table: `most` in two windows. With full pages these are 1,100 read units a second, and 200 for the free ones of 220 containers;
   * the 200 streams of an owner read 1,600. A partition gives 3,000.
   */
  lists: { most: 100, window: 5 * SECOND, free: 120 * SECOND, owners: 1_000 },
  /**
   * Reads of the states of machines, for one owner in all containers, in two windows. GetExecutionHistory has 20 a second for the account
   * (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
   */
  states: { most: 30, window: 5 * SECOND },
  /** What a container serves where it cannot count in the table: a token bucket as of `polls`, per second. */
  uncountedLists: { perInterval: 2, burst: 100 },
  /** How long a call without a task waits for its result, unless the server's option says otherwise. */
  inlineWindow: 25 * SECOND,
  /**
   * How long one response stream is held, unless the server's option says otherwise. Then 2025-11-25 clients reconnect,
   * and 2026-07-28 clients listen again.
   */
  holdCap: 50 * SECOND,
  /** What the server's options `inlineWindow` and `holdCap` can be set to. */
  holdRange: { min: 1 * SECOND, max: 600 * SECOND },
  helperWait: 20 * SECOND,
  /** When a client may send a request again that was one stream too many. */
  streamRetryAfter: 5 * SECOND,
  requestState: 1 * HOUR,
  listenTasks: 100,
  /** Read units of the first read of `subscriptions/listen`: of all records, and of as many reports as there is room for. */
  listenUnits: 108,
  /**
   * Read units a second of one stream after its first read. With `maxStreams` of them, and 12 new ones a second, which six
   * containers allow, an owner stays below 3,000 units a second: what a partition of a table gives.
   */
  streamUnits: 8,
  /** Bytes of tasks that one `subscriptions/listen` sends, or fetches from S3. Then it ends, and tasks/get has the rest. */
  listenBytes: 20_000 * KB,
  /** In ms of the processor: once its frames took so long, it ends at the next result of S3. */
  listenWork: 0.5 * SECOND,
  listPage: 50,
  body: 1_000 * KB,
  /** Bytes of a string as the id of a request: each event id repeats it, escaped, and all headers take 10,240 bytes in API Gateway. */
  requestId: 256,
  jsonDepth: 64,
  arguments: 200 * KB,
  /**
   * How long values may be checked against schemas in one turn of the event loop, and the least that each value gets
   * after the others took all of it. So a list of 50 results or a stream of 100 takes at most 2 seconds of the processor. By the
   * clock it blocks the endpoint for up to 4 or 4.5 seconds, as that has 0.29 of a processor.
   */
  check: { together: 0.5 * SECOND, least: 10 },
  /**
   * A result as JSON text, in bytes. `inline`: what a record holds, so that it stays under 4 KB, which costs one read
   * unit; more lies in S3. `stored`: what a tool with `defineTool` may put there, less than the 6 MiB that a function
   * can return to a direct call. `carried`: what a run returns itself if S3 refuses it. `depth`: JSON that is nested deeper
   * can be parsed, but not written again. `copied`: an object that takes more is sent as structured content only, without
   * its copy as text. `large`: what may take more than 6 MB in an answer, which Lambda sends slowly.
   */
  result: { inline: 1_500, carried: 100 * KB, stored: 6_000 * KB, depth: 500, copied: 1_000 * KB, large: 2_000 * KB },
  /**
   * Files of a task: how many, bytes of one, and characters of a name. `read`: bytes that `resources/read` gives. A link works for
   * `link` ms after it was made, and then until the next full `step`: it stays the same for as long. `presigned`: ms of the URL of
   * S3 behind it. `page`: files of one page of `resources/list`.
   */
  files: {
    most: 100,
    bytes: 5_000_000 * KB,
    name: 200,
    type: 128,
    read: 4_000 * KB,
    link: 1 * HOUR,
    step: 600 * SECOND,
    presigned: 300 * SECOND,
    page: 50,
  },
  /**
   * What the runs of a task keep in its journal. `entries`: steps, waits and the like. `bytes`: of all their values, as JSON.
   * `value`: of one value. `inline`: of a value in the table; more lies in S3. `name`: characters. `carried`: bytes of all
   * variables, which travel from round to round; in a call without a task also of its steps and answers.
   */
  journal: { entries: 10_000, bytes: 100_000 * KB, value: 6_000 * KB, inline: 4 * KB, name: 64, carried: 100 * KB },
  /** Questions, request state, arguments and earlier answers together, with their escapes. Leaves room for answers. */
  asked: 240 * KB,
  /** Bytes of the name that a tool gives a question. */
  questionName: 128,
  inputResponses: 32 * KB,
  /**
   * `name`: characters of the name of a wait. `ofRound`: the most waits of one round. `bytes`: of all of them as JSON text, in the
   * record, which stays under 4 KB. `signalled`: bytes of the names of a round's signals, in its record. `inside`: a run does
   * not end for a sleep shorter than this, since the next run may start a minute late. `quick`: a tool may wait for nothing, again
   * and again. So after `rounds` rounds, one that took less than `took` is not followed at once: a poll or the sweep starts the next.
   */
  waits: {
    name: 64,
    ofRound: 20,
    bytes: 1_500,
    signalled: 256,
    inside: 10 * SECOND,
    quick: { rounds: 10, took: 2 * SECOND },
  },
  /** A signal: bytes of its body, and characters of the name that a person gives. */
  signal: { body: 32 * KB, by: 100 },
  /** Bytes of input in a record; more lies in S3. A record then stays under 4 KB, which costs one read unit. */
  inlineInput: 1_500,
  /** Of a task, in all rounds. An item of 400 KB holds them beside the 256 KiB at most that a workflow writes. */
  answers: 140 * KB,
  /**
   * How many events the record of a task keeps, besides its end; events of the workflow up to this round as well. `bytes`: of one,
   * with all that only the server writes. A record that holds scopes has that much less room.
   */
  events: { others: 12, workflowRounds: 5, bytes: 60 },
  /** Invalid answers to one question, and in one round. The last of them fails the task (2025-11-25: the others repeat the question). */
  refusals: { ofQuestion: 5, ofRound: 25 },
  statusMessage: 500,
  /** Bytes of what a record says of its caller, as JSON in ASCII. It stays as long as the record. */
  caller: 1_024,
  /** Bytes of a progress token. It is in the record while the task works. */
  progressToken: 128,
  /** Step Functions' hard limit on an execution's input, and on what a run gives its function. */
  executionInput: 262_144,
  session: 24 * HOUR,
  /** The stream that a 2025-11-25 session opens by GET: see `functions/mcp/stream/session-stream.ts`. */
  sessionStream: {
    /** From the poll that finds a question until the stream asks it: the client may call tasks/result instead. */
    grace: 1.5 * SECOND,
    /** After the stream sent a question, a held call does not ask it for this time. One that a held call asks is noted once in it. */
    silence: 60 * SECOND,
    /** The stream asks a question without an answer again after this, if its client still polls. */
    askAgain: 180 * SECOND,
    /** A client that reconnects without an event id gets a question again after this at the earliest; see `holdCap`. */
    askHereAgain: 30 * SECOND,
    /** When the client reconnects: a share of the time since a task last asked. */
    retry: { min: 1 * SECOND, max: 30 * SECOND, shareOfIdle: 0.15 },
    /** Tasks that one stream checks. A container remembers the large input of as many. */
    tasks: 50,
    /** Bytes of the questions that one stream sends, with their event ids, or one question. The client comes back for the rest. */
    bytes: 240 * KB,
    /** Questions, and tasks, that the notes of a session hold. Its stream asks no more than that: event ids name each question. */
    notes: 300,
  },
  /** MCP Events (docs/events.md). */
  mcpEvents: {
    /**
     * Live subscriptions of an owner. Each gets some 14 events a second at most, with a write for each: all together stay below the 1,000
     * units of a partition of DynamoDB, which holds items of other owners, too.
     */
    subscriptions: 50,
    /** For how long a subscription is granted. A message of its queue lives as long as the longest, as SQS keeps no longer. */
    ttl: { min: 1 * HOUR, default: DAY, max: 14 * DAY },
    /** How long a secret still signs after another one has replaced it. */
    oldSecret: 1 * HOUR,
    /** The most log entries that a new subscription replays. */
    replay: 300,
    /** Entries of the log that one poll reads. */
    poll: 50,
    /** When a client is asked to poll again. */
    nextPoll: 5 * SECOND,
    /** Bytes of the scopes of a token that a subscription keeps as they are. */
    scopes: 256,
    /** Bytes of a callback's URL. */
    url: 2_000,
    /** How often a container notes the last request of an owner, and of how many owners it knows that. */
    seen: { every: 10 * SECOND, owners: 1_000 },
    /** How many of the last events the log knows by their ids, so that a repeat gets no second entry. */
    recent: 25,
    /** Events of an owner that go into the log together. Each read of its head reads them, too: 3 or 4 units. */
    together: 25,
    /** Bytes of a summary, so that the head of the log, with an event in it, stays below 1 KB, which is one write unit. */
    summary: 200,
  },
  /** Calls of an owner that are stored as refused tasks, and the time in which they count. */
  refusedTasks: { most: 100, within: DAY },
  /** Slots of an owner's open tasks: see `functions/tasks/table/open-task-slots.ts`. */
  openTaskSlots: {
    /** Slots in one item. Their names and its key take less than 1 KB, so a write of it costs one unit. */
    ofShard: 20,
    /** A task that does not exist this long after it took its slot was never created. */
    createdWithin: 60 * SECOND,
    /** An owner without a free slot is refused for this time without another search. A cancel ends it. */
    full: 2 * SECOND,
  },
} as const;
