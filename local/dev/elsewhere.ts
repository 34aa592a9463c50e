import { type AwsIdentity, forwardToAws, ownIdentity } from './aws-forwarder.ts';

/** The services that run here. What the server stores never leaves this machine. */
const OWN: readonly string[] = ['DYNAMODB', 'S3', 'SFN', 'LAMBDA', 'SECRETS_MANAGER'];
const PREFIX = 'AWS_ENDPOINT_URL_';
const REGION = /\.([a-z]{2}(?:-[a-z]+)+-\d+)\./;
const AWS_HOST = /\.(amazonaws\.com(\.cn)?|api\.aws)$/;

/**
 * Reads the variables `AWS_ENDPOINT_URL_<SERVICE>`: the URL of an emulator, `aws` for AWS itself, or the URL of AWS where
 * the service has a host of another name (docs/developing.md, "What runs"). Throws an error that names the variable.
 *
 * @param identity reads the region and credentials that sign requests to AWS itself
 * @returns the variables that every function gets, and a line for the terminal for each
 */
export async function readElsewhere(
  env: Readonly<Record<string, string | undefined>>,
  identity: () => Promise<AwsIdentity> = ownIdentity,
) {
  const variables: Record<string, string> = {};
  const said: string[] = [];
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => void (await Promise.all(stops.map((end) => end())));
  try {
    for (const [name, value = ''] of Object.entries(env)) {
      if (!name.startsWith(PREFIX) || value === '') continue;
      const service = name.slice(PREFIX.length);
      if (OWN.includes(service)) {
        said.push(`${name} is left out: ${service} runs here`);
      } else if (value === 'aws' || AWS_HOST.test(hostOf(name, value))) {
        const me = await identity().catch((error: Error) => {
          throw new Error(`${name}=${value} needs AWS credentials and a region in your shell: ${error.message}`);
        });
        const host = `${service.toLowerCase().replaceAll('_', '-')}.${me.region}.amazonaws.com`;
        const target = new URL(value === 'aws' ? `https://${host}` : value);
        const [, region = me.region] = REGION.exec(target.hostname) ?? [];
        const forwarder = await forwardToAws(target, { ...me, region });
        stops.push(forwarder.stop);
        variables[name] = forwarder.url;
        said.push(`${name}: tools reach AWS itself, ${target.origin}, with your own credentials`);
      } else {
        variables[name] = value;
        said.push(`${name}: tools reach ${value}`);
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { variables, said, stop };
}

function hostOf(name: string, value: string): string {
  if (URL.canParse(value)) return new URL(value).hostname;
  throw new Error(`${name} is neither a URL nor 'aws': ${value}`);
}
