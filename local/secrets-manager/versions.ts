import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AwsError } from '../aws-error.ts';
import { onDisk, replaceFile } from '../disk/disk.ts';

export interface Version {
  readonly id: string;
  /** A rotation starts with a version without a value. */
  readonly value?: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly stages: readonly string[];
}

export type Versions = ReturnType<typeof openVersions>;

/** The versions of all secrets, by name. A version without a stage is removed. */
export function openVersions(dataDir: string | undefined, now: () => number) {
  const file = dataDir === undefined ? undefined : join(dataDir, 'secrets.json');
  const stored = new Map<string, readonly Version[]>(
    file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [],
  );
  const of = (name: string) => stored.get(name) ?? [];
  const keep = (name: string, versions: readonly Version[]): void => {
    stored.set(
      name,
      versions.filter(({ stages }) => stages.length > 0),
    );
    if (file) onDisk(file, () => replaceFile(file, JSON.stringify([...stored])));
  };
  return {
    of,
    /** Adds a version, or sets its value once. @param value may be absent at first */
    put(name: string, id: string, value: string | undefined, labels: readonly string[] = ['AWSCURRENT']): Version {
      const known = of(name).find((version) => version.id === id);
      if (known?.value !== undefined && known.value !== value) {
        throw new AwsError('ResourceExistsException', "You can't modify a secret version that has a value.");
      }
      const stages = known?.stages ?? [];
      const version: Version = { id, createdAt: now() / 1000, stages, ...(value !== undefined && { value }) };
      const others = of(name).filter((other) => other.id !== id);
      let versions: readonly Version[] = [version, ...others];
      for (const stage of labels) versions = moved(versions, stage, id);
      keep(name, versions);
      return versions[0] ?? version;
    },
    /** Moves a stage. AWSPREVIOUS moves to the version that had AWSCURRENT. */
    move(name: string, stage: string, from: string | undefined, to: string | undefined): void {
      const held = of(name).find(({ stages }) => stages.includes(stage));
      if (held && held.id !== to && held.id !== from) {
        throw new AwsError('InvalidParameterException', `The staging label ${stage} is attached to version ${held.id}`);
      }
      if (to !== undefined && !of(name).some(({ id }) => id === to)) {
        throw new AwsError('ResourceNotFoundException', "Secrets Manager can't find the specified secret version.");
      }
      keep(name, moved(of(name), stage, to));
    },
  };
}

function moved(versions: readonly Version[], stage: string, to: string | undefined): readonly Version[] {
  const from = versions.find(({ stages }) => stages.includes(stage))?.id;
  const labelled = versions.map((version) => {
    const others = version.stages.filter((other) => other !== stage);
    return { ...version, stages: version.id === to ? [...others, stage] : others };
  });
  return stage === 'AWSCURRENT' && from !== undefined && from !== to ? moved(labelled, 'AWSPREVIOUS', from) : labelled;
}
