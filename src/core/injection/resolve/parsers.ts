import { matching, mistake, type Parser } from '../../settings/parsers.ts';

/** The text itself once the parser has taken it: a plan holds what goes into variables. */
export function asText({ expects, parse }: Parser<unknown>): Parser<string> {
  return {
    expects,
    parse: (given) => {
      parse(given);
      return given;
    },
  };
}

/** A DNS label, as containers are named. */
export function containerName(): Parser<string> {
  return matching(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'the name of a container');
}

/** A DNS subdomain, as most objects are named. */
export function objectName(kind: string): Parser<string> {
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  return matching(new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`), `the name of a ${kind}`);
}

/** Of a token, such as a URL or a name. */
export function audience(): Parser<string> {
  return matching(/^[\x21-\x7e]{1,253}$/, 'an audience such as https://vault.example, without blanks');
}

/** A JSON array of texts, the first of which is what is started. */
export function command(): Parser<readonly string[]> {
  const expects = 'a JSON array of texts such as ["/bin/app", "--port=80"], the first not empty';
  return {
    expects,
    parse: (given) => {
      const value = parsedJson(given);
      return isCommand(value) ? value : mistake(expects);
    },
  };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A NUL cannot be handed to a process. */
function isCommand(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value[0] === '') return false;
  return value.every((one) => typeof one === 'string' && !one.includes('\0'));
}

/** An item of a list in a custom resource, which becomes an item of a list with commas. */
export function listed({ expects, parse }: Parser<string>): Parser<string> {
  return {
    expects: `${expects}, without commas and without blanks at its ends`,
    parse: (given) => (/,|^\s|\s$/.test(given) ? mistake(expects) : parse(given)),
  };
}
