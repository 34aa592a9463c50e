/** The services that run here. What the server stores never leaves this machine. */
const OWN: readonly string[] = ['DYNAMODB', 'S3', 'SFN', 'LAMBDA', 'SECRETS_MANAGER'];
const PREFIX = 'AWS_ENDPOINT_URL_';

/**
 * Reads the variables `AWS_ENDPOINT_URL_<SERVICE>`: the URLs of services that do not run here (docs/developing.md, "What
 * runs"). Throws an error that names the variable.
 *
 * @returns the variables that every function gets, and a line for the terminal for each
 */
export function readElsewhere(env: Readonly<Record<string, string | undefined>>) {
  const variables: Record<string, string> = {};
  const said: string[] = [];
  for (const [name, value = ''] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || value === '') continue;
    const service = name.slice(PREFIX.length);
    if (OWN.includes(service)) said.push(`${name} is left out: ${service} runs here`);
    else if (!URL.canParse(value)) throw new Error(`${name} is not a URL: ${value}`);
    else {
      variables[name] = value;
      said.push(`${name}: tools reach ${value}`);
    }
  }
  return { variables, said };
}
