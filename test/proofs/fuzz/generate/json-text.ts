/**
 * JSON as text: a name may come twice, a number may have any size, and a part may be no valid JSON. A leaf is its text.
 */
export type Node = string | ListNode | ObjectNode;
export interface ListNode {
  readonly items: Node[];
}
export interface ObjectNode {
  readonly members: [name: string, value: Node][];
}

export function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { items: value.map(nodeOf) };
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return { members: Object.entries(value).map(([name, inner]) => [name, nodeOf(inner)]) };
}

export function textOf(node: Node): string {
  if (typeof node === 'string') return node;
  if ('items' in node) return `[${node.items.map(textOf).join(',')}]`;
  return `{${node.members.map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`).join(',')}}`;
}

/** A place in a tree: what is there, and how to put something else there. */
export interface Slot {
  readonly node: Node;
  replace(by: Node): void;
}

/** Every place below the root. */
export function slotsOf(root: Node): Slot[] {
  if (typeof root === 'string') return [];
  const own: Slot[] =
    'items' in root
      ? root.items.map((node, i) => ({ node, replace: (by) => void root.items.splice(i, 1, by) }))
      : root.members.map((member) => ({
          node: member[1],
          replace: (by) => {
            member[1] = by;
          },
        }));
  return own.flatMap((slot) => [slot, ...slotsOf(slot.node)]);
}

export const objectsIn = (root: Node): ObjectNode[] =>
  [root, ...slotsOf(root).map(({ node }) => node)].filter(
    (node): node is ObjectNode => typeof node !== 'string' && 'members' in node,
  );
