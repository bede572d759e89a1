const shownCharacters = 2;
const hiddenUpTo = 8;
const covered = '****';

/** The first and last two characters of a value of more than eight; nothing is said of its length. */
export function mask(value: string): string {
  if (value === '') return '';
  const characters = [...value];
  if (characters.length <= hiddenUpTo) return covered;
  const shown = [characters.slice(0, shownCharacters), characters.slice(-shownCharacters)];
  return shown.map((part) => part.join('')).join(covered);
}
