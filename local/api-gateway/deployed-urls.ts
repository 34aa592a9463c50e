import type { Lambda } from '../lambda/index.ts';
import { urlSuffixOf } from '../partition.ts';
import type { Api } from './routes.ts';

/** The URL of the stage on AWS. Clients of this cloud use another one. */
export const stageUrl = ({ id, region, stage }: Api): string =>
  `https://${id}.execute-api.${region}.${urlSuffixOf(region)}/${stage}`;

/** Changes a text: it gets the URL of this cloud in place of the URLs that the API has on AWS. */
export type ToHere = (text: string) => Promise<string>;

/**
 * On AWS the API has the URL of its stage, and what comes before one of its paths in an output.
 *
 * @param here resolves once the API listens
 */
export function toHereOf(
  api: Api | undefined,
  outputs: Readonly<Record<string, string>>,
  here: Promise<string>,
): ToHere {
  if (api === undefined) return async (text) => text;
  const named = Object.values(outputs).filter((output) => /^https?:\/\//.test(output));
  const before = named.flatMap((url) =>
    api.routes.filter(({ resource }) => url.endsWith(resource)).map(({ resource }) => url.slice(0, -resource.length)),
  );
  const urls = [...new Set([stageUrl(api), ...before])];
  return async (text) => {
    const url = await here;
    return urls.reduce((changed, one) => changed.replaceAll(one, url), text);
  };
}

/** The same Lambda, whose functions get the URL of this cloud. */
export const withUrl = (lambda: Pick<Lambda, 'invoke'>, toHere: ToHere): Pick<Lambda, 'invoke'> => ({
  invoke: async (name, payload, to) => lambda.invoke(name, await toHere(payload), to),
});
