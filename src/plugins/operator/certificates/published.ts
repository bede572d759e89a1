import type { ServerCertificate } from './contract.ts';
import { createSecretSlot } from './secret-slot.ts';

/** What is served now. It is complete once both parts were there. */
export interface Published {
  current(): ServerCertificate;
  /** PEM that what is served is verified by; undefined while there is nothing. */
  bundle(): string | undefined;
  clientAuthorities(): string;
  onChange(handle: () => void): void;
  serve(certificate: ServerCertificate): void;
  admit(clientAuthorities: string): void;
  readonly complete: Promise<void>;
}

export function createPublished(): Published {
  const handlers: (() => void)[] = [];
  const complete = Promise.withResolvers<void>();
  let served: ServerCertificate | undefined;
  let authorities: string | undefined;
  const hideKey = createSecretSlot();
  const tell = () => {
    if (served === undefined || authorities === undefined) return;
    complete.resolve();
    for (const handle of handlers) handle();
  };
  return {
    current: () => present(served),
    bundle: () => served?.ca,
    clientAuthorities: () => present(authorities),
    onChange: (handle) => void handlers.push(handle),
    serve(certificate) {
      if (served !== undefined && isSame(served, certificate)) return;
      hideKey(certificate.key);
      served = certificate;
      tell();
    },
    admit(clientAuthorities) {
      if (authorities === clientAuthorities) return;
      authorities = clientAuthorities;
      tell();
    },
    complete: complete.promise,
  };
}

function isSame(one: ServerCertificate, other: ServerCertificate): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca;
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('certificates were asked for before they were there');
  return value;
}
