/**
 * Where a path of a mount leads, as the kubelet and the runtime see it: `svc`, `//svc/` and `/x/../svc` are all `/svc`.
 * In linear time: whoever writes a pod writes its paths.
 */
export function resolvedPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}
