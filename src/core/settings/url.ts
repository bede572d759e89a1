import { mistake, type Parser } from './parsers.ts';

/**
 * An absolute http or https URL without user name, password, query or fragment.
 * Credentials in a URL end up in logs, so they are refused.
 */
export function httpUrl(example: string): Parser<URL> {
  const expects = `an http:// or https:// URL such as ${example}, without credentials, query or fragment`;
  return { expects, parse: (text) => parse(text) ?? mistake(expects) };
}

function parse(text: string): URL | undefined {
  const plain = /^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/i.test(text);
  return plain && URL.canParse(text) ? new URL(text) : undefined;
}
