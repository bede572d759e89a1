import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { steeringFamilies, steeringFamilyOf } from '../../../../src/runtime/environment/steering/index.ts';

const test = suite('names that steer programs');

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
  'the Java': 'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH FLINK_PROPERTIES JVM_ARGS',
  frameworks:
    'SPRING_APPLICATION_JSON MICRONAUT_CONFIG_FILES QUARKUS_CONFIG_LOCATIONS LOGGING_CONFIG LOADER_PATH',
  '.NET': 'DOTNET_STARTUP_HOOKS CORECLR_PROFILER coreclr_profiler NUGET_PLUGIN_PATHS MONO_PATH',
  PHP: 'PHPRC APP_SERVICES_CACHE WP_CLI_CONFIG_PATH',
  Lua: 'LUA_INIT LUA_INIT_5_4 KONG_PLUGINS',
  Tcl: 'TCLLIBPATH R_PROFILE_USER JULIA_LOAD_PATH ERL_FLAGS COB_PRE_LOAD OCTAVE_PATH',
  'images that': 'GITLAB_OMNIBUS_CONFIG KONG_NGINX_HTTP_INCLUDE PGADMIN_CONFIG_SERVER_MODE',
  'start scripts of images': '_PIP_ADDITIONAL_REQUIREMENTS DOCKER_MODS PRE_START_PATH',
  'applications with': 'GF_PATHS_PLUGINS N8N_CUSTOM_EXTENSIONS TRAEFIK_EXPERIMENTAL_PLUGINS_X',
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

/** Without lines that begin with `#`. */
const namesIn = (file: string): string[] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .replace(/^#.*$/gm, '')
    .trim()
    .split(/\s+/);

test('no documented name of a secret is refused', () => {
  const names = namesIn('names-of-secrets.txt');
  assert.ok(names.length > 1000);
  assert.equal(
    names.filter((name) => steeringFamilyOf(name) !== undefined),
    [],
  );
});

test('each documented name that steers is refused', () => {
  const names = namesIn('names-that-steer.txt');
  assert.ok(names.length > 500);
  assert.equal(
    names.filter((name) => steeringFamilyOf(name) === undefined),
    [],
  );
});

test('a pattern spares names of credentials, but not where the value itself becomes code, nor names of svc', () => {
  assert.is(steeringFamilyOf('LD_SDK_KEY'), undefined);
  assert.ok(steeringFamilyOf('LD_SDK_PATH'));
  assert.is(steeringFamilyOf('NODE_CONFIG_PASSWORD'), undefined);
  assert.ok(steeringFamilyOf('NODE_CONFIG'));
  assert.ok(steeringFamilyOf('PGADMIN_CONFIG_MAIL_PASSWORD'));
  assert.ok(steeringFamilyOf('SVC_DB_PASSWORD'));
  assert.ok(steeringFamilyOf('VAULT_TOKEN'));
});

test('in any case: dots and hyphens, as frameworks bind them', () => {
  for (const name of [
    'SPRING_CONFIG_IMPORT',
    'spring.config.import',
    'Spring_Config.Import',
    'spring.config-import',
  ])
    assert.ok(steeringFamilyOf(name), name);
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
