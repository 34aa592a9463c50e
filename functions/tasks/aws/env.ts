/** A variable of the environment that is always set. Throws, by its name, if it is missing or empty. */
export function variable(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set`);
  return value;
}

/** A comma-separated variable of the environment. It is empty if no tool needs it. */
export function list(env: NodeJS.ProcessEnv, name: string): readonly string[] {
  const text = env[name] ?? '';
  return text === '' ? [] : text.split(',');
}
