/** The functions of test/support/apps/app.ts that work for every task, by what their names hold. */
const NAMES = { endpoint: /Endpoint/, tool: /Tools/, reconciler: /Reconciler/ } as const;

export type Role = keyof typeof NAMES;

export const ROLES: readonly Role[] = ['endpoint', 'tool', 'reconciler'];

/** @param name of a function, or of one of its workers */
export const roleOf = (name: string): Role | undefined => ROLES.find((role) => NAMES[role].test(name));
