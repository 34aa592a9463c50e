import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Not every machine has Python with boto3. */
export const hasPython = spawnSync('python3', ['-c', 'import boto3']).status === 0;

/** Runs a script that may import the library. Returns what it prints. */
export async function runPython(script: string, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = {
    ...process.env,
    ...{ PYTHONPATH: 'functions/examples/python', PYTHONDONTWRITEBYTECODE: '1' },
    ...variables,
  };
  return (await promisify(execFile)('python3', ['-c', script], { env, timeout: 30_000 })).stdout;
}
