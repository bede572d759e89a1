/** Of a release such as `5.15.0-1044-aks`; undefined where it does not begin with two numbers. */
export function kernelVersion(release: string): { major: number; minor: number } | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}
