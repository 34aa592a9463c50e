type Path = readonly (string | number)[];

/** Every member of a JSON value, at any depth, by its path. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => {
    const path = [...at, name];
    return [path, ...pathsOf((value as Record<string | number, unknown>)[name], path)];
  });
}

/** The value with this member set to null, or without it. */
function changed(value: object, path: Path, change: 'null' | 'none') {
  const copy = structuredClone(value) as Record<string | number, unknown>;
  let parent = copy;
  for (const name of path.slice(0, -1)) parent = parent[name] as typeof parent;
  const last = path.at(-1) ?? '';
  if (change === 'null') parent[last] = null;
  else delete parent[last];
  return copy;
}

/**
 * What a check makes of an example: the members that may be null instead, and those that must be there. A good check of
 * a good example lets none be null. Leave free objects empty: what is in them is not checked.
 */
export function partsOf(check: (value: unknown) => unknown, example: object) {
  const paths = pathsOf(example);
  const nameOf = (path: Path) => path.join('.');
  const named = (path: Path) => typeof path.at(-1) === 'string';
  return {
    nullable: paths.filter((path) => check(changed(example, path, 'null'))).map(nameOf),
    required: paths.filter((path) => named(path) && !check(changed(example, path, 'none'))).map(nameOf),
  };
}
