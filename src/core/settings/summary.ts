import type { Setting } from './setting.ts';

/** `Address to listen on [SVC_PROXY_LISTEN, default 127.0.0.1:8190]`, as help shows a setting. */
export function settingSummary({ summary, variable, fallback, required, secret }: Setting<unknown>): string {
  const shown = fallback !== undefined && fallback !== '' && !secret ? `default ${fallback}` : undefined;
  const facts = [variable, required ? 'required' : undefined, shown].filter((fact) => fact !== undefined);
  return `${summary} [${facts.join(', ')}]`;
}
