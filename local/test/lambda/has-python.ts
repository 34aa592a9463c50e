import { spawnSync } from 'node:child_process';

/** Whether this machine has Python: not every machine has it, so tests with it are skipped by name. */
export const hasPython = spawnSync('python3', ['--version']).status === 0;
