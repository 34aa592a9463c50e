import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../json.ts';

/** A resource of the template, with its intrinsic functions. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: JsonObject;
  readonly Metadata?: JsonObject;
  readonly Condition?: string;
}

export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Parameters: JsonObject;
  readonly Conditions: JsonObject;
  readonly Outputs: JsonObject;
}

export interface Stack {
  readonly name: string;
  readonly region: string;
  readonly account: string;
  readonly template: Template;
  /** Maps the S3 key of an asset to the folder (or file) that holds it. */
  readonly assets: ReadonlyMap<string, string>;
}

export const DEFAULT_REGION = 'us-east-1';
export const DEFAULT_ACCOUNT = '000000000000';

/** Reads the folder that `cdk synth` wrote, with the nested assemblies of its stages. */
export function readAssembly(dir: string): Stack[] {
  const path = join(dir, 'manifest.json');
  if (!existsSync(path)) throw new Error(`${dir} is not a cloud assembly: it has no manifest.json`);
  const artifacts = objectOf(readJson(path).artifacts);
  return Object.entries(artifacts).flatMap(([id, value]) => {
    const artifact = objectOf(value);
    const properties = objectOf(artifact.properties);
    if (artifact.type === 'cdk:cloud-assembly') return readAssembly(join(dir, String(properties.directoryName)));
    return artifact.type === 'aws:cloudformation:stack' ? [readStack(dir, id, artifact, artifacts)] : [];
  });
}

function readStack(dir: string, id: string, artifact: JsonObject, artifacts: JsonObject): Stack {
  const properties = objectOf(artifact.properties);
  const manifests = listOf(artifact.dependencies)
    .map((name) => objectOf(artifacts[String(name)]))
    .filter((dependency) => dependency.type === 'cdk:asset-manifest')
    .map((dependency) => join(dir, String(objectOf(dependency.properties).file)));
  return {
    name: stringOf(properties.stackName) ?? id,
    ...environmentOf(stringOf(artifact.environment)),
    template: readTemplate(join(dir, String(properties.templateFile))),
    assets: new Map(manifests.flatMap((file) => readAssets(dir, file))),
  };
}

/** `aws://123456789012/eu-west-1`; a stack without an environment has `unknown-account` and `unknown-region`. */
function environmentOf(environment = ''): { region: string; account: string } {
  const [account = '', region = ''] = environment.replace('aws://', '').split('/');
  return {
    account: /^\d{12}$/.test(account) ? account : DEFAULT_ACCOUNT,
    region: /^[a-z]+(-[a-z]+)+-\d$/.test(region) ? region : DEFAULT_REGION,
  };
}

function readTemplate(path: string): Template {
  const template = readJson(path);
  if (template.Transform !== undefined) throw new Error(`the embedded cloud does not know the Transform of ${path}`);
  return {
    Resources: objectOf(template.Resources) as Record<string, TemplateResource>,
    Parameters: objectOf(template.Parameters),
    Conditions: objectOf(template.Conditions),
    Outputs: objectOf(template.Outputs),
  };
}

function readAssets(dir: string, manifest: string): [string, string][] {
  return Object.values(objectOf(readJson(manifest).files)).flatMap((file) => {
    const { source, destinations } = objectOf(file);
    const path = stringOf(objectOf(source).path);
    if (path === undefined) return [];
    return Object.values(objectOf(destinations)).map((destination): [string, string] => [
      String(objectOf(destination).objectKey),
      join(dir, path),
    ]);
  });
}

function readJson(path: string): JsonObject {
  const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isObject(json)) throw new Error(`${path} does not hold a JSON object`);
  return json;
}
