/**
 * Texts of others in messages: names, paths and images that nobody has validated yet may be of any length and number,
 * and every message that names them would hold a copy.
 */
const maxName = 100;
const maxNames = 10;
const maxMessages = 50;
const maxMessage = 2_000;

/** The beginning of a long text, for a message. */
export function cut(text: string, maxLength = maxName): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}

/** The first of many names, for a message: `a, b and 3 more`. */
export function cutList(names: readonly string[]): string {
  const told = names.slice(0, maxNames).map((name) => cut(name));
  const left = names.length - told.length;
  return left > 0 ? `${told.join(', ')} and ${left} more` : told.join(', ');
}

/** A message on each that was found. Those that `cutMessages` leaves out are not made: they only count. */
export function messagesOn<T>(found: readonly T[], message: (one: T) => string): string[] {
  return found.map((one, index) => (index < maxMessages ? message(one) : '…'));
}

/** The first 50 messages, and how many more there are. */
export function cutMessages(messages: readonly string[]): readonly string[] {
  const told = messages.slice(0, maxMessages).map((text) => cut(text, maxMessage));
  const left = messages.length - told.length;
  return left > 0 ? [...told, `and ${left} more`] : told;
}
