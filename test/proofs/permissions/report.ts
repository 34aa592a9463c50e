import type { Assembly } from './assembly.ts';
import { everything } from './flow.ts';
import { isElsewhere, nameOf, type Place, statementsOf, without } from './statements.ts';

/** The failure without a statement; undefined if nothing fails. */
export async function missed(assembly: Assembly, place: Place): Promise<string | undefined> {
  if (isElsewhere(place)) return 'a test of the template';
  return without(assembly.path, place, (path) =>
    everything({ ...assembly, path }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    ),
  );
}

/** Prints the use of each statement. Returns the statements without any. */
export async function removeEach(assembly: Assembly): Promise<string[]> {
  const needless: string[] = [];
  for (const place of statementsOf(assembly.path)) {
    const consequence = await missed(assembly, place);
    if (consequence === undefined) needless.push(nameOf(place));
    console.log(`${nameOf(place)}\n    without it: ${consequence?.split('\n')[0] ?? 'NOTHING'}`);
  }
  return needless;
}
