/** The steps of a program, by its second argument; see docs/clients.md. */
export type Step = 'run' | 'question' | 'cancel' | 'helper' | 'file';

export interface ForeignClient {
  readonly name: string;
  /** In this folder: its program, and the file that pins its versions. */
  readonly folder: string;
  readonly era: '2025-11-25' | '2026-07-28';
  readonly toolchain: 'python' | 'go' | 'rust' | 'node' | 'inspector' | 'claude-code';
  readonly steps: readonly Step[];
  /** The client shows no progress of a task. */
  readonly noProgress?: true;
  /** More arguments of the program, after the server and the step. */
  readonly args?: readonly string[];
  /** How long the person at the client thinks before each answer. */
  readonly env?: Readonly<Record<string, string>>;
}

const TASKS = ['run', 'question', 'cancel'] as const;
const HELPER = ['helper'] as const;
const inspector = { folder: 'inspector', toolchain: 'inspector', steps: [...TASKS, 'file'] } as const;

/** Clients of other authors. A client has only the steps that its API allows. */
export const clients: readonly ForeignClient[] = [
  {
    name: 'Claude Code 2.1.330, terminal; -p',
    ...{ folder: 'claude-code', era: '2026-07-28', toolchain: 'claude-code', noProgress: true },
    steps: [...TASKS, 'helper', 'file'],
  },
  { name: 'FastMCP 4.1.2, fastmcp_tasks', folder: 'fastmcp-4', era: '2026-07-28', toolchain: 'python', steps: TASKS },
  { name: 'rmcp 3.9.0', folder: 'rmcp', era: '2026-07-28', toolchain: 'rust', steps: TASKS },
  { name: 'turul-mcp-client 0.4.6', folder: 'turul', era: '2026-07-28', toolchain: 'rust', steps: TASKS },
  { name: 'Inspector 2.12.0, mcpdo', ...inspector, era: '2026-07-28', args: ['modern'] },
  { name: 'Inspector 2.12.0, mcpdo', ...inspector, era: '2025-11-25', args: ['legacy'] },
  { name: 'TypeScript SDK 1.32.2', folder: 'typescript-sdk-1', era: '2025-11-25', toolchain: 'node', steps: TASKS },
  { name: 'FastMCP 3.4.10', folder: 'fastmcp-3', era: '2025-11-25', toolchain: 'python', steps: TASKS },
  { name: 'Python SDK 1.30.0', folder: 'python-sdk', era: '2025-11-25', toolchain: 'python', steps: TASKS },
  {
    name: 'Strands 1.62.0 on mcp 2.1.1',
    ...{ folder: 'strands', era: '2026-07-28', toolchain: 'python', steps: TASKS },
  },
  {
    name: 'Strands 1.62.0 on mcp 1.30.0',
    ...{
      folder: 'strands-legacy',
      era: '2025-11-25',
      toolchain: 'python',
      steps: ['run', 'question'],
      noProgress: true,
    },
  },
  {
    name: 'mcp-go 1.2.1, listening, thinks 10 s',
    ...{ folder: 'mcp-go', era: '2025-11-25', toolchain: 'go', steps: TASKS, env: { THINK: '10s' } },
  },
  { name: 'Go SDK 1.8.0', folder: 'go-sdk', era: '2026-07-28', toolchain: 'go', steps: HELPER },
  { name: 'pydantic-ai 2.68.0', folder: 'pydantic-ai', era: '2025-11-25', toolchain: 'python', steps: HELPER },
  {
    name: 'LangChain 1.4.7, adapters 0.3.2',
    folder: 'langchain',
    era: '2025-11-25',
    toolchain: 'python',
    steps: HELPER,
  },
  { name: 'OpenAI Agents 0.24.0', folder: 'openai-agents', era: '2025-11-25', toolchain: 'python', steps: HELPER },
];
