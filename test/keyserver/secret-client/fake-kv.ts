import type { Handler, KeyServerReply } from '../fake-key-server.ts';

const mountQuestion = 'sys/internal/ui/mounts/';

export interface FakeMount {
  readonly path: string;
  readonly type?: string;
  /** Absent: options are null, as of a store without any. */
  readonly version?: string;
}

/** Answers the question which store holds a path, and hands everything else on. */
export function kvHandler(mounts: readonly FakeMount[], rest: Handler): Handler {
  return (request, response) => {
    if (!request.path.startsWith(mountQuestion)) return rest(request, response);
    const path = decodeURIComponent(request.path.slice(mountQuestion.length));
    const found = mounts.find((mount) => path.startsWith(mount.path));
    if (found === undefined) return refused(403, '1 error occurred:\n\t* permission denied\n\n');
    const options = found.version === undefined ? null : { version: found.version };
    return { status: 200, json: { data: { path: found.path, type: found.type ?? 'kv', options } } };
  };
}

export const refused = (status: number, ...errors: string[]): KeyServerReply => ({
  status,
  json: { errors },
});

export const kv2 = (data: unknown, version = 1): KeyServerReply => ({
  status: 200,
  json: { data: { data, metadata: { version } } },
});
