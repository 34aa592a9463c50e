/** Words that do not say what a text is about, but how, when or which way. */
const STOP = new Set(
  (
    'a about above after again against all am an and any are as at be because been before being below between both but ' +
    'by can cannot could did do does down each every few for from had has have he her him his i if in into is it its ' +
    'last less many may me more most much must my never no nobody not now of off on one only or other our out over own ' +
    'quite say says she so some still such than that the their them then there these they this those through to too ' +
    'under until up upon us was we well were what when where which who whose will with would year yet you your ' +
    'daybreak noon evening dusk night middle watch toward towards north east south west'
  ).split(' '),
);

/** The terms of a text, in its order: words without case and plural, without those that say nothing. */
export function termsOf(text: string): string[] {
  return [...text.toLowerCase().matchAll(/[a-z]+/g)]
    .map(([word]) => word)
    .filter(isTelling)
    .map(singular)
    .filter(isTelling);
}

const isTelling = (word: string): boolean => word.length > 1 && !STOP.has(word);

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=sh|ch|x)es$|s$/, '');
}
