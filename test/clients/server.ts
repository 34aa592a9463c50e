import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud } from '../../local/cloud.ts';
import { synthApp } from '../../local/testing.ts';

export interface Created {
  readonly taskId: string;
  readonly tool: string;
}

export interface Server {
  readonly url: string;
  /** Every task, in the order of creation. */
  readonly created: readonly Created[];
  /** A file with their ids, one a line, for programs whose client hides the id. */
  readonly createdFile: string;
  stop(): Promise<void>;
}

/** `./app.ts` on the embedded cloud. Its audit log shows the created tasks. */
export async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-clients-'));
  const createdFile = join(folder, 'created');
  const created: Created[] = [];
  writeFileSync(createdFile, '');
  await synthApp('test/clients/app.ts', join(folder, 'out'));
  const cloud = await startCloud({
    assembly: join(folder, 'out'),
    onLog(_source, line) {
      if (!line.startsWith('{"event":"audit","action":"created"')) return;
      const { taskId, tool } = JSON.parse(line);
      created.push({ taskId, tool });
      appendFileSync(createdFile, `${taskId}\n`);
    },
  });
  return {
    ...{ url: `${cloud.url}/mcp`, created, createdFile },
    async stop() {
      await cloud.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
