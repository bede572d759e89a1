/** One way to authenticate that a `WWW-Authenticate` header offers; names in lower case. */
export interface AuthChallenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const longest = 8_192;
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
const schemeForm = new RegExp(`(${token})(?=\\s|,|$)`, 'y');

/**
 * The challenges of a `WWW-Authenticate` header in their order (RFC 9110, section 11.6.1); reading ends at what is not
 * one. Of parameters given twice the first counts.
 */
export function parseChallenges(header: string): AuthChallenge[] {
  const text = header.slice(0, longest);
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    const pair = matchAt(parameter, text, at);
    const current = challenges.at(-1);
    const [matched, name = '', quoted, plain = ''] = pair ?? matchAt(schemeForm, text, at) ?? [''];
    if (matched === '' || (pair && current === undefined)) break;
    if (pair && current) {
      const key = name.toLowerCase();
      if (!Object.hasOwn(current.parameters, key)) current.parameters[key] = unquoted(quoted) ?? plain;
    } else challenges.push({ scheme: name.toLowerCase(), parameters: Object.create(null) });
    at += matched.length;
  }
  return challenges;
}

function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s,]/.test(text.charAt(at))) at++;
  return at;
}

function unquoted(text: string | undefined): string | undefined {
  return text?.replace(/\\(.)/g, '$1');
}
