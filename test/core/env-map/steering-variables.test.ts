import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { steeringFamilies, steeringFamilyOf } from '../../../src/core/env-map.ts';

const test = suite('names that steer programs');

const of = (names: string, steers: boolean) =>
  assert.equal(
    names.split(/\s+/).filter((name) => (steeringFamilyOf(name) !== undefined) !== steers),
    [],
  );

test('loader, shells, runtimes, tools, trust, proxies and our own', () => {
  of('LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_ANYTHING_NEW GCONV_PATH GLIBC_TUNABLES', true);
  of('PATH IFS ENV SHELL BASH_ENV BASH_FUNC_x%% BASHOPTS SHELLOPTS ZDOTDIR HOME', true);
  of('NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED npm_config_node_options', true);
  of(
    'PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB LUA_INIT LUA_INIT_5_4',
    true,
  );
  of(
    'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS CORECLR_PROFILER',
    true,
  );
  of('GIT_SSH_COMMAND GIT_CONFIG_COUNT PHPRC OPENSSL_CONF SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE', true);
  of('HTTP_PROXY http_proxy Https_Proxy NO_PROXY NPM_CONFIG_SCRIPT_SHELL EDITOR PAGER BROWSER', true);
  of('AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 AWS_CONFIG_FILE KUBECONFIG', true);
  of('SVC_SECRET_PATHS SVC_REQUIRE_AGENT SVC_PORT VAULT_ADDR VAULT_TOKEN BAO_ADDR', true);
});

test('names that secrets have', () => {
  of('password DB_PASSWORD PGPASSWORD MYSQL_PWD REDIS_URL API_KEY JWT_SECRET tls.crt tls.key ca.crt', false);
  of(
    'AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET NPM_TOKEN NODE_ENV',
    false,
  );
  of(
    'SSH_PRIVATE_KEY DOCKER_PASSWORD RSYNC_PASSWORD SPRING_DATASOURCE_PASSWORD GITHUB_TOKEN path env home',
    false,
  );
  of(
    'user username LDAP_BIND_PASSWORD SMTP_PASS SENTRY_DSN PROXY_PASSWORD HOMEPAGE PATHS ENVIRONMENT',
    false,
  );
});

test('each name is listed once', () => {
  const all = steeringFamilies.flatMap(({ names }) => names);
  assert.equal(
    all.filter((name, at) => all.indexOf(name) !== at),
    [],
  );
});

test.run();
