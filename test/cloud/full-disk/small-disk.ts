import { execFileSync } from 'node:child_process';

/** A folder with room for some bytes, and more when a test says so. */
export interface SmallDisk {
  /** The shell command that runs another one where the disk is small. */
  readonly shell: (command: string) => string;
  grow(): void;
  remove(): void;
}

/** A disk of 1 MB, at an existing folder: a file system in memory if this user may mount one, or a bound of 1 MB on every file. */
export function smallDisk(folder: string): SmallDisk {
  const mount = (...options: string[]) => execFileSync('mount', options, { stdio: 'ignore' });
  try {
    mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder);
  } catch {
    return { shell: (command) => `ulimit -f 2048; ${command}`, grow: () => undefined, remove: () => undefined };
  }
  return {
    shell: (command) => command,
    grow: () => void mount('-o', 'remount,size=64m', folder),
    remove: () => void execFileSync('umount', ['-l', folder]),
  };
}
