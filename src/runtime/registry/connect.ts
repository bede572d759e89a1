import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type http from 'node:http';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { mayBeRegistry } from '../../core/image/registry-address.ts';

export interface ConnectRules {
  /** Whether this machine may have a registry. */
  readonly local: boolean;
  /** Places as `placeOf` gives them, which may be anywhere. */
  readonly trusted?: ReadonlySet<string> | undefined;
  /** Default: that of the system. */
  readonly lookup?: (
    host: string,
    options: LookupOptions & { all: true },
    done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void;
}

type Options = http.ClientRequestArgs & { readonly lookup?: LookupFunction };
type Connect = (options: Options, created: (error: Error) => void) => Socket | undefined;

/**
 * Connects only to addresses that a registry can have. They are judged as the connection is made, by what the name
 * resolves to for this very connection: a name that is another address a moment later gains nothing.
 */
export function judgeAddresses<T extends http.Agent>(agent: T, rules: ConnectRules): T {
  const connect = agent.createConnection.bind(agent) as unknown as Connect;
  const judged: Connect = (options, created) => {
    const host = options.host ?? 'localhost';
    if (rules.trusted?.has(`${host}:${options.port}`)) return connect(options, created);
    if (isIP(host) === 0 || mayBeRegistry(host, rules))
      return connect({ ...options, lookup: judgedLookup(rules) }, created);
    // thrown, it would end the process where the request had waited for another one's end
    created(unsuitable(host));
    return undefined;
  };
  agent.createConnection = judged as unknown as typeof agent.createConnection;
  return agent;
}

/** Host and port that a URL leads to, without brackets. */
export function placeOf({ hostname, port, protocol }: URL): string {
  return `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'http:' ? '80' : '443')}`;
}

/** A name with one unsuitable address among others is not taken at all. */
function judgedLookup(rules: ConnectRules): LookupFunction {
  const ask = rules.lookup ?? (lookup as NonNullable<ConnectRules['lookup']>);
  return (host, options, done) => {
    ask(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const [first] = addresses;
      const wrong = addresses.find(({ address }) => !mayBeRegistry(address, rules));
      if (wrong !== undefined || first === undefined) return done(unsuitable(host), '', 0);
      // with `all`, Node tries one after the other
      if (options.all) return done(null, addresses);
      return done(null, first.address, first.family);
    });
  };
}

function unsuitable(host: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${host} has an address that no registry can have`);
  error.code = 'ADDRESS_REFUSED';
  return error;
}
