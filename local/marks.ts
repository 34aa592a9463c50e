/** Marks in the product's templates that the embedded cloud and `dev` read. test/structure/marks.test.ts compares both sides. */

/** Metadata of the endpoint of a server: its tools, with the logical ids of their parts. */
export const SERVER_MARK = 'mcp-task-server:server';

/** Metadata of a function that `dev` builds: its file, and the options of esbuild. */
export const SOURCE_MARK = 'mcp-task-server:source';

/** The context by which an app leaves these builds to `dev`. */
export const DEV_CONTEXT = 'mcp-task-server:dev';

/** The state of a workflow that runs its tool. */
export const RUN_STATE = 'Run';

/** The variable by which the functions of MCP Events send to receivers on this machine, too, and by http. */
export const RECEIVERS_HERE = { EVENTS_LOOPBACK: 'true' };
