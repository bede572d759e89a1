import type { Handler, KeyServerReply } from '../fake-key-server.ts';

/** What a key server answers when all is well; by the beginning of the path. */
const well: Readonly<Record<string, KeyServerReply>> = {
  'auth/token/lookup-self': { status: 200, json: { data: { ttl: 3600, renewable: true, expire_time: 'x' } } },
  'auth/token/renew-self': granted(),
  'auth/token/revoke-self': { status: 204 },
  'auth/kubernetes/login': granted(),
  'sys/internal/ui/mounts/': {
    status: 200,
    json: { data: { path: 'kv/', type: 'kv', options: { version: '2' } } },
  },
  'kv/data/': { status: 200, json: { data: { data: { name: 'value' }, metadata: { version: 1 } } } },
};

function granted(): KeyServerReply {
  return {
    status: 200,
    json: { auth: { client_token: 's.token', lease_duration: 3600, renewable: true } },
  };
}

/** Answers as usual, but for paths that begin as named. */
export function answers(others: Readonly<Record<string, Handler>>): Handler {
  return (request, response) => {
    const other = Object.entries(others).find(([path]) => request.path.startsWith(path));
    if (other !== undefined) return other[1](request, response);
    const usual = Object.entries(well).find(([path]) => request.path.startsWith(path));
    return usual?.[1] ?? { status: 404, json: { errors: [] } };
  };
}
