import { conventions } from './conventions.ts';
import { images } from './images.ts';
import { libraries } from './libraries.ts';
import { Patterns, type SteeringFamily } from './patterns.ts';
import { programs } from './programs.ts';
import { runtimes } from './runtimes.ts';
import { services } from './services.ts';

/**
 * Whole prefixes where a program reserves one, since its next version may add a name, but not where hosts, users and
 * addresses have the same prefix. A name that is listed although a convention covers it is reported with the program
 * that reads it.
 */
export const steeringFamilies: readonly SteeringFamily[] = [
  ...programs,
  ...runtimes,
  ...images,
  ...libraries,
  ...services,
  ...conventions,
];

/** Harmless names that match a pattern. */
const exceptions: ReadonlySet<string> = new Set(['NODE_ENV', 'NODE_HOST', 'NODE_NAME', 'NODE_PORT']);

/**
 * Ends of names that hold a credential, or whose it is. A program takes no code from what is called a password, so a
 * pattern, which stands for names that nobody knows yet, does not refuse one; a name that is listed whole is.
 */
const credential =
  /_(PASS(WORD|WD|PHRASE)?|TOKEN|SECRET|CREDENTIALS|(?<!_PUBLIC_)KEY|(KEY|CLIENT|CLIENT_SIDE|ACCOUNT|APP|PROJECT|TENANT)_ID|USER(_?NAME)?)$/i;

/** The family that a variable belongs to; undefined if a secret may use the name. */
export function steeringFamilyOf(name: string): SteeringFamily | undefined {
  if (exceptions.has(name)) return undefined;
  const { asWritten, inAnyCase } = patterns();
  const folded = name.toLowerCase().replaceAll(/[.-]/g, '_');
  const listed = inAnyCase.named(folded) ?? asWritten.named(name);
  if (listed !== undefined) return listed;
  const family = inAnyCase.matching(folded) ?? asWritten.matching(name);
  return family?.evenCredentials || !credential.test(name) ? family : undefined;
}

let filed: ReturnType<typeof file> | undefined;
/** Not before a name is asked for: most commands never do. */
const patterns = () => (filed ??= file());

function file() {
  const asWritten = new Patterns<SteeringFamily>();
  const inAnyCase = new Patterns<SteeringFamily>();
  for (const family of steeringFamilies)
    for (const name of family.names) {
      if (family.anyCase) inAnyCase.add(name.toLowerCase(), family);
      else asWritten.add(name, family);
    }
  return { asWritten, inAnyCase };
}
