import type { Given } from './origin.ts';
import { type Setting, SettingMistake } from './setting.ts';

/** `<place>: should be …, is "…"`, with the parser's own reason where it says more than what is expected. */
export function wrongValue(
  { expects, secret }: Pick<Setting<unknown>, 'expects' | 'secret'>,
  { place, text }: Given,
  error: unknown,
): string {
  const reason =
    error instanceof SettingMistake && !expects.includes(error.message) ? ` (${error.message})` : '';
  const value = secret ? '' : `, is ${shown(text)}`;
  return `${place}: should be ${expects}${reason}${value}`;
}

const longest = 60;

/** A given value for a message: quoted, control characters escaped, a URL's credentials masked, cut when long. */
function shown(value: string): string {
  const masked = value.replace(/\/\/[^/@\s]*@/g, '//***@');
  return JSON.stringify(masked.length > longest ? `${masked.slice(0, longest)}…` : masked);
}
