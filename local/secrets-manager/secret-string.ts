import { randomInt } from 'node:crypto';
import { type JsonObject, numberOf, objectOf, stringOf } from '../json.ts';

const CLASSES: readonly [exclude: string, characters: string][] = [
  ['ExcludeLowercase', 'abcdefghijklmnopqrstuvwxyz'],
  ['ExcludeUppercase', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
  ['ExcludeNumbers', '0123456789'],
  ['ExcludePunctuation', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
];

const KNOWN = new Set([
  ...CLASSES.map(([exclude]) => exclude),
  'PasswordLength',
  'ExcludeCharacters',
  'IncludeSpace',
  'RequireEachIncludedType',
  'SecretStringTemplate',
  'GenerateStringKey',
]);

/** Generates a value by `GenerateSecretString` of CloudFormation. */
export function generateSecret(options: JsonObject): string {
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw new Error(`the embedded cloud does not know GenerateSecretString.${unknown}`);

  const password = generatePassword(options);
  const { SecretStringTemplate, GenerateStringKey } = options;
  if (typeof SecretStringTemplate !== 'string') return password;
  const template = objectOf(JSON.parse(SecretStringTemplate));
  return JSON.stringify({ ...template, [String(GenerateStringKey)]: password });
}

function generatePassword(options: JsonObject): string {
  const excluded = stringOf(options.ExcludeCharacters) ?? '';
  const classes = [...CLASSES, ...(options.IncludeSpace === true ? [['', ' '] as const] : [])]
    .filter(([exclude]) => options[exclude] !== true)
    .map(([, characters]) => [...characters].filter((character) => !excluded.includes(character)))
    .filter((characters) => characters.length > 0);
  const length = numberOf(options.PasswordLength) ?? 32;
  const each = options.RequireEachIncludedType !== false;
  if (classes.length === 0 || (each && length < classes.length)) {
    throw new Error('GenerateSecretString leaves too few characters');
  }
  const required = each ? classes.map(pick) : [];
  const rest = Array.from({ length: length - required.length }, () => pick(classes.flat()));
  return shuffle([...required, ...rest]).join('');
}

function pick(characters: readonly string[]): string {
  return characters[randomInt(characters.length)] ?? '';
}

function shuffle(characters: readonly string[]): string[] {
  const left = [...characters];
  return characters.flatMap(() => left.splice(randomInt(left.length), 1));
}
