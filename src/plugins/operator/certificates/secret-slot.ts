import { secrets } from '../../../runtime/logging/secrets.ts';

/** Keeps the secret that is in use now out of every log line; the one before may be forgotten. */
export function createSecretSlot(): (value: string) => void {
  let known = '';
  let forget = () => {};
  return (value) => {
    if (value === known) return;
    const forgetNew = secrets.register(value);
    forget();
    forget = forgetNew;
    known = value;
  };
}
