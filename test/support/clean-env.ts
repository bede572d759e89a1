const DROPPED =
  /^(AWS_|VAULT_|BAO_|SVC_|MINIO_|RCLONE_|ROOT_ACCESS|ROOT_SECRET|VGW_|https?_proxy$|all_proxy$|no_proxy$|NODE_OPTIONS$|NODE_V8_COVERAGE$|DEBUG$)/i;

/**
 * The environment for a child: this process's own without anything that steers S3 clients, key servers,
 * proxies or Node, and with `added`; undefined takes a variable away.
 */
export function cleanEnv(added: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !DROPPED.test(name));
  const all = { ...Object.fromEntries(kept), ...added };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
