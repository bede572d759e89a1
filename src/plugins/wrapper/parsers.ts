import { unixSocketPath } from '../../core/grpc/unix-address.ts';
import { byteSize, mistake, type Parser } from '../../core/settings/parsers.ts';

/** Longest path of a Unix socket, in bytes: sun_path without its NUL. */
const longestSocketPath = 107;

/**
 * A gRPC address of a Unix socket with an absolute path or an abstract name (`unix-abstract:`); the value is the
 * socket's path as connect(2) takes it.
 */
export function unixSocket(): Parser<string> {
  const expects = `a gRPC address such as unix:///run/svc/agent.sock, of at most ${longestSocketPath} bytes`;
  const parse = (given: string) => {
    const path = unixSocketPath(given) ?? '';
    const usable = /^(\/[^/]|\0.)/s.test(path) && Buffer.byteLength(path) <= longestSocketPath;
    return usable ? path : mistake(expects);
  };
  return { expects, parse };
}

/** Bytes, or `inherit` for the limit as the wrapper found it. */
export function coreLimit(): Parser<number | 'inherit'> {
  const size = byteSize();
  return {
    expects: `inherit, or ${size.expects}`,
    parse: (given) => (given === 'inherit' ? given : size.parse(given)),
  };
}
