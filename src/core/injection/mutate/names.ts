/** What the operator adds to a pod, by name. `docs/adr/0006-injection.md` says what each is for. */
export const volumeNames = {
  wrapper: 'svc-wrapper',
  certificates: 'svc-ca',
  token: 'svc-token',
  agent: 'svc-agent',
  spool: 'svc-proxy-spool',
} as const;

export const copierName = 'svc-wrapper';
export const proxyName = 'svc-proxy';

/** Containers that are the operator's own: never wrapped, and never looked at for what the user wants. */
export const isInjected = ({ name }: { readonly name: string }): boolean =>
  name === copierName || name === proxyName;

/** Where the wrapper's folder lies in a container; its program is built for this very path. */
export const wrapperFolder = '/svc';
export const wrapperProgram = `${wrapperFolder}/svc-wrapper`;
export const certificateFolder = `${wrapperFolder}/certs`;
export const tokenFolder = '/var/run/secrets/svc';
