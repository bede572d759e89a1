import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { steeringFamilies, steeringFamilyOf } from '../../../src/core/steering/index.ts';

const test = suite('names that steer programs');

const of = (names: string, steers: boolean) =>
  assert.equal(
    names
      .trim()
      .split(/\s+/)
      .filter((name) => (steeringFamilyOf(name) !== undefined) !== steers),
    [],
  );

/** Examples of each family, by what its description begins with. */
const examples: Readonly<Record<string, string>> = {
  'the loader':
    'LD_PRELOAD LD_AUDIT LD_ANYTHING_NEW GCONV_PATH GLIBC_TUNABLES ASAN_SYMBOLIZER_PATH HEAPPROFILE',
  shells: 'PATH IFS ENV SHELL BASH BASH_ENV BASH_FUNC_x%% BASHOPTS SHELLOPTS ZDOTDIR STARSHIP_CONFIG',
  'programs that look': 'HOME XDG_CONFIG_HOME TERMINFO CREDENTIALS_DIRECTORY',
  'programs that start a helper':
    'EDITOR PAGER BROWSER AWKLIBPATH AWKPATH BC_ENV_ARGS AUTOSSH_PATH NIX_CONFIG',
  editors: 'VIMINIT VIMRUNTIME EMACSLOADPATH NVIM_APPNAME',
  git: 'GIT_SSH_COMMAND GIT_CONFIG_COUNT',
  compilers: 'CC GOCACHEPROG GOSUMDB CARGO_REGISTRIES_MINE_INDEX CCACHE_PREFIX PKG_CONFIG_PATH ZIG_LIB_DIR',
  TeX: 'TEXINPUTS shell_escape GVBINDIR',
  'managers of versions': 'ASDF_DATA_DIR MISE_CONFIG_FILE MISE_SHIMS_DIR VOLTA_BYPASS',
  'Node, npm':
    'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS SWC_BINARY_PATH BABEL_CACHE_PATH NEW_RELIC_CONFIG_FILENAME',
  npm: 'npm_config_node_options NPM_CONFIG_SCRIPT_SHELL',
  'programs that drive': 'CHROME_PATH PUPPETEER_EXECUTABLE_PATH GECKODRIVER_PATH SELENIUM_REMOTE_URL',
  Python:
    'PYTHONPATH UVICORN_APP_DIR UVICORN_APP FLASK_DEBUG CELERY_LOADER AIRFLOW__CORE__PLUGINS_FOLDER TOX_TESTENV',
  Perl: 'PERL5OPT PERL5LIB PERL5DB HARNESS_PERL_SWITCHES',
  Ruby: 'RUBYOPT RUBYLIB BOOTSNAP_CACHE_DIR PRYRC',
  'the Java':
    'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH LOADER_PATH FLINK_PROPERTIES JVM_ARGS',
  '.NET': 'DOTNET_STARTUP_HOOKS CORECLR_PROFILER coreclr_profiler NUGET_PLUGIN_PATHS MONO_PATH',
  PHP: 'PHPRC APP_SERVICES_CACHE WP_CLI_CONFIG_PATH',
  Lua: 'LUA_INIT LUA_INIT_5_4 KONG_NGINX_HTTP_INCLUDE',
  Tcl: 'TCLLIBPATH R_PROFILE_USER JULIA_LOAD_PATH ERL_FLAGS COB_PRE_LOAD OCTAVE_PATH',
  'libraries for keys': 'OPENSSL_CONF KRB5_CONFIG GSS_MECH_CONFIG LDAPTLS_REQCERT TPM2TOOLS_TCTI',
  'clients of databases': 'ODBCINI TNS_ADMIN PGSYSCONFDIR PSQLRC MARIADB_PLUGIN_DIR TDSDUMP',
  'libraries for media':
    'GST_PLUGIN_PATH FFMPEG_PATH FFREPORT IMAGEIO_FFMPEG_EXE GDAL_VRT_ENABLE_PYTHON SDL_DYNAMIC_API',
  desktops:
    'GTK3_MODULES GTK_PATH GI_TYPELIB_PATH QT_PLUGIN_PATH XAUTHORITY VK_ICD_FILENAMES XR_RUNTIME_JSON',
  'libraries for parallel':
    'OMP_TOOL_LIBRARIES NVTX_INJECTION64_PATH NCCL_NET_PLUGIN HSA_TOOLS_LIB INTEL_LIBITTNOTIFY64',
  machines: 'QEMU_MODULE_DIR LIBVIRT_DRIVER_DIR IPTABLES_LIB_DIR CNI_PATH',
  'TLS clients': 'SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CONSUL_HTTP_SSL_VERIFY',
  'HTTP clients': 'HTTP_PROXY http_proxy Https_Proxy NO_PROXY NOPROXY GLOBAL_AGENT_HTTP_PROXY',
  'clients of clouds':
    'AWS_ENDPOINT_URL AWS_CONFIG_FILE AWS_LAMBDA_EXEC_WRAPPER KUBECONFIG PUBSUB_EMULATOR_HOST',
  svc: 'SVC_SECRET_PATHS SVC_REQUIRE_AGENT SVC_PORT VAULT_ADDR VAULT_TOKEN BAO_ADDR',
  'many start scripts':
    'HBASE_OPTS SHOP_OPTS SHOP_JAVA_OPTIONS SHOP_NODE_OPTIONS SHOP_CLASSPATH SHOP_CONF_DIR',
  'many programs that start':
    'SHOP_EDITOR SHOP_PAGER SHOP_ASKPASS AIRFLOW__CORE__FERNET_KEY_CMD TURBO_BINARY_PATH',
  'many programs that load': 'SHOP_HOME SHOP_PLUGIN_PATH SHOP_SETTINGS_MODULE CUSTOM_INJECTION64_PATH',
};

for (const { readBy } of steeringFamilies)
  test(`of ${readBy}`, () => {
    const [begins] = Object.keys(examples)
      .filter((one) => readBy.startsWith(one))
      .sort((a, b) => b.length - a.length);
    assert.ok(begins, 'no example');
    const strangers = examples[begins]
      ?.split(' ')
      .filter((name) => steeringFamilyOf(name)?.readBy !== readBy);
    assert.equal(strangers, []);
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

/** Each shares its beginning with names that steer the same program, or looks like one. */
test('credentials of the programs that are listed', () => {
  of(
    `CELERY_BROKER_URL CELERY_RESULT_BACKEND NX_CLOUD_ACCESS_TOKEN GH_TOKEN HF_TOKEN TF_VAR_password COMPOSER_AUTH
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN AIRFLOW__CORE__FERNET_KEY JUPYTER_TOKEN DOTENV_KEY PULUMI_ACCESS_TOKEN
    PULUMI_CONFIG_PASSPHRASE SOPS_AGE_KEY KONG_PG_PASSWORD OTEL_EXPORTER_OTLP_HEADERS SENTRY_AUTH_TOKEN DD_API_KEY
    NEW_RELIC_LICENSE_KEY ELASTIC_APM_SECRET_TOKEN GEM_HOST_API_KEY POETRY_PYPI_TOKEN_PYPI PDM_PUBLISH_PASSWORD
    HATCH_INDEX_AUTH CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_MINE_TOKEN TURBO_TOKEN HEX_API_KEY NUGET_API_KEY
    MAVEN_PASSWORD MAVEN_GPG_PASSPHRASE GPG_PRIVATE_KEY GPG_PASSPHRASE GRADLE_PUBLISH_KEY
    ORG_GRADLE_PROJECT_signingPassword FLYWAY_PASSWORD LIQUIBASE_COMMAND_PASSWORD REDISCLI_AUTH COSIGN_PASSWORD
    CONSUL_HTTP_TOKEN NOMAD_TOKEN HARNESS_API_KEY MOZ_SECRET_KEY HYDRA_SYSTEM_SECRET VAGRANT_CLOUD_TOKEN
    MISE_GITHUB_TOKEN PM2_SECRET_KEY DJANGO_SECRET_KEY FLASK_SECRET_KEY RCLONE_CONFIG_PASS MC_HOST_myminio`,
    false,
  );
  of(
    `APP APP_ENV APP_KEY APP_DEBUG HOST HOSTNAME PORT PGHOST MYSQL_HOST DATABASE_URL S3_ENDPOINT KAFKA_BOOTSTRAP_SERVERS
    RAILS_MASTER_KEY RAILS_ENV SECRET_KEY_BASE GOOGLE_APPLICATION_CREDENTIALS CA_CERT TLS_CERT KEYSTORE_PASSWORD
    LISTEN_ADDR DISPLAY DISPLAY_NAME PROMPT CARD_BIN CONFIG SETTINGS MORE PARALLEL LOADER COMPOSER`,
    false,
  );
});

test('each name is listed once, with at most one star', () => {
  const all = steeringFamilies.flatMap(({ names }) => names);
  assert.equal(
    all.filter((name, at) => all.indexOf(name) !== at),
    [],
  );
  assert.equal(
    all.filter((name) => !/^[\w.]*\*?[\w.]*$/.test(name) || name === '*'),
    [],
  );
});

test('the family that is told is the one that names most of the name', () => {
  assert.match(steeringFamilyOf('MAVEN_OPTS')?.readBy ?? '', /^many start scripts/);
  assert.match(steeringFamilyOf('GIT_EDITOR')?.readBy ?? '', /^git$/);
  assert.match(steeringFamilyOf('NUGET_PLUGIN_PATHS')?.readBy ?? '', /^\.NET/);
});

test('very many fields are judged in little time', () => {
  const began = performance.now();
  for (let at = 0; at < 100_000; at++) steeringFamilyOf(`f${at}`);
  assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
});

test.run();
