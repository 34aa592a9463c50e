/** Rows no test on one machine can prove, each with its reason. They count as accounted for and are printed by name. */
export const unprovable: Readonly<Record<string, string>> = {};
