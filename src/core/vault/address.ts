import { isLoopback } from '../settings/listen-address.ts';

/** What is wrong with an address that a token or secret would travel to in the clear, led by where it was given. */
export function unencrypted(place: string, url: URL | undefined): string | undefined {
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
    ? `${place}: must be https:// (http:// is accepted for loopback addresses only)`
    : undefined;
}
