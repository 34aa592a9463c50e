import type { Lambda } from '../lambda/index.ts';
import { urlSuffixOf } from '../partition.ts';
import type { Api } from './routes.ts';

/** The URL of the stage on AWS. Clients of this cloud use another one. */
export const stageUrl = ({ id, region, stage }: Api): string =>
  `https://${id}.execute-api.${region}.${urlSuffixOf(region)}/${stage}`;

/**
 * The same Lambda, whose functions get the URL of this cloud in place of the URLs of the API on AWS: of its stage, and what comes
 * before one of its paths in an output.
 *
 * @param here resolves once the API listens
 */
export function withUrl(
  lambda: Pick<Lambda, 'invoke'>,
  api: Api | undefined,
  outputs: Readonly<Record<string, string>>,
  here: Promise<string>,
): Pick<Lambda, 'invoke'> {
  if (api === undefined) return lambda;
  const named = Object.values(outputs).filter((output) => /^https?:\/\//.test(output));
  const before = named.flatMap((url) =>
    api.routes.filter(({ resource }) => url.endsWith(resource)).map(({ resource }) => url.slice(0, -resource.length)),
  );
  const urls = [...new Set([stageUrl(api), ...before])];
  return {
    async invoke(name, payload, to) {
      const url = await here;
      return lambda.invoke(
        name,
        urls.reduce((text, one) => text.replaceAll(one, url), payload),
        to,
      );
    },
  };
}
