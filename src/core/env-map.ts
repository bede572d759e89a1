import { type Parser, SettingMistake } from './settings/setting.ts';

/** One item of SVC_ENV_MAP: the field of a secret, and the variable that gets its value. */
export interface EnvMapping {
  readonly field: string;
  readonly variable: string;
}

/** One group of mappings for each secret path, in the order of the paths; trailing groups may be missing. */
export type EnvMap = readonly (readonly EnvMapping[])[];

export interface ParsedEnvMap {
  readonly map: EnvMap;
  /** One phrase each; empty for a valid text. */
  readonly errors: readonly string[];
}

/** As pods may name variables. */
export const variableName = /^[A-Za-z_.-][\w.-]*$/;

/**
 * Groups are separated by `;`, and their items `<field>=<ENV_VAR>` by commas; surrounding blanks are dropped. A group
 * may be empty for a path without mappings. A field may have several variables.
 */
export function parseEnvMap(text: string): ParsedEnvMap {
  const groups = text.split(';').map((group) => group.trim());
  while (groups.at(-1) === '') groups.pop();
  const items = groups.map((group, at) => (group === '' ? [] : group.split(',').map((one) => item(one, at))));
  const map = items.map((group) => group.filter((one) => typeof one !== 'string'));
  const misshapen = items.flat().filter((one) => typeof one === 'string');
  return { map, errors: [...misshapen, ...repeated(map)] };
}

/** The mapping, or an error phrase. */
function item(text: string, group: number): EnvMapping | string {
  const [, field = '', variable = ''] = /^(.*)=(.*)$/s.exec(text)?.map((part) => part.trim()) ?? [];
  if (field !== '' && variableName.test(variable)) return { field, variable };
  const named = `${JSON.stringify(text.trim())} in group ${group + 1}`;
  if (field === '' || variable === '') return `${named} is not of the form <field>=<ENV_VAR>`;
  return `${named} does not name a variable of letters, digits, _, - and .`;
}

function repeated(map: EnvMap): string[] {
  const known = new Set<string>();
  const twice = new Set<string>();
  for (const { variable } of map.flat()) (known.has(variable) ? twice : known).add(variable);
  return [...twice].map((name) => `${name} is given to more than one field`);
}

/** SVC_ENV_MAP as a setting; its message lists every error in the text. */
export function envMap(): Parser<EnvMap> {
  return {
    expects: 'groups separated by ; (one per secret path) of <field>=<ENV_VAR> items separated by commas',
    parse: (text) => {
      const { map, errors } = parseEnvMap(text);
      if (errors.length > 0) throw new SettingMistake(errors.join('; '));
      return map;
    },
  };
}

/**
 * Variables that tell a program what to run, what to trust or where to send data, so a secret's field must not become
 * one unintentionally.
 */
export interface SteeringFamily {
  /** Programs that read them. */
  readonly readBy: string;
  /** What somebody gains who sets one of them. */
  readonly gives: string;
  /** Variable names; a trailing `*` matches every name with that prefix. */
  readonly names: readonly string[];
  /** Names are case-insensitive, like those for proxies. */
  readonly anyCase?: boolean;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Whole prefixes where a runtime reserves one, since its next version may add a name. */
export const steeringFamilies: readonly SteeringFamily[] = [
  {
    readBy: 'the loader and the C library',
    gives: 'code in every program; DNS answers',
    names: words(`
      LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH LANGUAGE MALLOC_* HOSTALIASES
      LOCALDOMAIN RES_OPTIONS GETCONF_DIR RESOLV_* NIS_PATH TZDIR
    `),
  },
  {
    readBy: 'shells (bash, sh, ksh, zsh, fish, PowerShell)',
    gives: 'commands, functions that replace commands, other programs of the same name',
    names: words(`
      PATH IFS ENV SHELL SHELLOPTS CDPATH GLOBIGNORE PROMPT_COMMAND INPUTRC BASH* PS0 PS1
      PS2 PS3 PS4 POSIXLY_CORRECT ZDOTDIR FPATH fpath NULLCMD READNULLCMD MODULE_PATH
      fish_* HISTFILE FCEDIT EXECIGNORE PSModulePath POWERSHELL_*
    `),
  },
  {
    readBy: 'programs that look for their files',
    gives: 'profiles, plug-ins and configuration from a folder of the writer’s choice',
    names: words('HOME XDG_* TMPDIR TERMINFO* TERMCAP'),
  },
  {
    readBy: 'programs that start a helper',
    gives: 'a command of the writer’s choice',
    names: words(`
      EDITOR VISUAL PAGER MANPAGER BROWSER LESS LESSOPEN LESSCLOSE LESSKEY* SUDO_ASKPASS
      SUDO_EDITOR SSH_ASKPASS* SSH_AUTH_SOCK SSH_SK_* SVN_SSH SVN_EDITOR CVS_RSH RSYNC_RSH
      RSYNC_CONNECT_PROG RSYNC_PROXY TAR_OPTIONS ZIPOPT UNZIP GZIP XZ_OPT XZ_DEFAULTS
      GREP_OPTIONS WGETRC SYSTEM_WGETRC CURL_HOME VIMINIT EXINIT NETRC
      MANOPT MANROFFOPT MANROFFSEQ SYSTEMD_* DBUS_* HG HGRCPATH HGEDITOR HGMERGE APT_CONFIG DPKG_* GNUPGHOME FZF_*
      RIPGREP_CONFIG_PATH BAT_PAGER BAT_CONFIG_* DELTA_PAGER RESTIC_PASSWORD_COMMAND RCLONE_PASSWORD_COMMAND
      BORG_PASSCOMMAND BORG_RSH BORG_REMOTE_PATH VALGRIND_*
    `),
  },
  {
    readBy: 'git',
    gives: 'commands (ssh, editor, pager, hooks, any key of its configuration), other repositories',
    names: words('GIT_*'),
  },
  {
    readBy: 'Node, npm, Bun, Deno, Electron',
    gives: 'modules loaded before the program; TLS without verification',
    names: words(`
      NODE_* BUN_* DENO_* ELECTRON_* TS_NODE_* COREPACK_* YARN_* NVM_* NAPI_RS_* ESBUILD_BINARY_PATH SASS_BINARY_PATH
      PRISMA_QUERY_ENGINE_* PRISMA_SCHEMA_ENGINE_* PUPPETEER_* PLAYWRIGHT_* NEW_RELIC_HOME ELASTIC_APM_CONFIG_FILE
    `),
  },
  {
    readBy: 'npm',
    gives: 'options of Node, the shell of scripts',
    names: words('npm_config_* npm_package_*'),
    anyCase: true,
  },
  {
    readBy: 'Python, pip, servers and tools in Python',
    gives: 'modules loaded before or instead of others, commands',
    names: words(`
      PYTHON* PIP_* UV_* VIRTUAL_ENV PYENV_* CONDA_* PIPENV_* PYTEST_* IPYTHONDIR JUPYTER_CONFIG_* JUPYTER_PATH
      MPLBACKEND MPLCONFIGDIR MATPLOTLIBRC FLASK_APP DJANGO_SETTINGS_MODULE CELERY_CONFIG_MODULE GUNICORN_CMD_ARGS UWSGI_*
      ANSIBLE_*
    `),
  },
  { readBy: 'Perl', gives: 'modules and debugger commands run before the program', names: words('PERL*') },
  {
    readBy: 'Ruby, Bundler',
    gives: 'files loaded before the program',
    names: words('RUBY* JRUBY_* RBENV_* GEM_HOME GEM_PATH BUNDLE_* BUNDLER_* IRBRC RAKEOPT'),
  },
  {
    readBy: 'the Java virtual machine and scripts that start it',
    gives: 'agents and options, hence code; other classes',
    names: words(`
      JAVA_* JDK_* JRE_* _JAVA_* IBM_JAVA_OPTIONS OPENJ9_JAVA_OPTIONS CLASSPATH JVM_OPTS
      CATALINA_* MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS GRADLE_USER_HOME SBT_OPTS ANT_OPTS
      KAFKA_OPTS ES_JAVA_OPTS KAFKA_HEAP_OPTS KAFKA_JMX_OPTS KAFKA_LOG4J_OPTS KAFKA_GC_LOG_OPTS
      KAFKA_JVM_PERFORMANCE_OPTS ES_JAVA_HOME ES_PATH_CONF LS_JAVA_OPTS LS_JAVA_HOME JAVACMD JVMFLAGS SERVER_JVMFLAGS
      CLIENT_JVMFLAGS HADOOP_* SPARK_* LOG4J_* LOGGING_CONFIG JBOSS_* ACTIVEMQ_OPTS SOLR_OPTS JENKINS_OPTS
      JENKINS_JAVA_OPTS GROOVY_* SCALA_HOME LEIN_* CLJ_CONFIG
    `),
  },
  {
    readBy: '.NET, Mono',
    gives: 'start-up hooks, profilers and other assemblies',
    names: words(`
      DOTNET_* COMPlus_* CORECLR_* COR_* MONO_PATH MONO_ENV_OPTIONS MONO_CONFIG
      ASPNETCORE_HOSTINGSTARTUPASSEMBLIES
    `),
    anyCase: true,
  },
  {
    readBy: 'PHP',
    gives: 'another php.ini, which prepends files; a debugger elsewhere',
    names: words('PHPRC PHP_INI_SCAN_DIR XDEBUG_* COMPOSER_HOME COMPOSER_VENDOR_DIR'),
  },
  { readBy: 'Lua', gives: 'code before the program, other modules', names: words('LUA_*') },
  {
    readBy: 'Tcl, R, Julia, Erlang, Elixir, RabbitMQ, OCaml, Haskell, Lisps',
    gives: 'start-up files, options and code',
    names: words(`
      TCLLIBPATH TCL_LIBRARY TK_LIBRARY R_ENVIRON* R_PROFILE* R_LIBS* R_HOME JULIA_* ERL_*
      ELIXIR_ERL_OPTIONS CAML_LD_LIBRARY_PATH OCAMLRUNPARAM GHCRTS CAMLRUNPARAM OCAMLLIB OCAMLPATH
      OCAMLFIND_CONF GHC_PACKAGE_PATH GHC_ENVIRONMENT R_DEFAULT_PACKAGES ERLC_* MIX_* IEX_* REBAR_* RELEASE_VM_ARGS
      RELEASE_REMOTE_VM_ARGS RELEASE_BOOT_SCRIPT* RELEASE_SYS_CONFIG RELEASE_ROOT RABBITMQ_CONF_ENV_FILE
      RABBITMQ_CONFIG_FILE* RABBITMQ_ADVANCED_CONFIG_FILE RABBITMQ_PLUGINS_* RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS
      RABBITMQ_SERVER_ERL_ARGS RABBITMQ_CTL_ERL_ARGS GUILE_* PLTADDONDIR PLTCOLLECTS PLTUSERHOME SBCL_HOME
    `),
  },
  {
    readBy: 'compilers and build tools',
    gives: 'commands that replace the compiler',
    names: words(`
      GOFLAGS GODEBUG GOENV GOPATH GOROOT GOPROXY GOTOOLCHAIN GOAUTH GOCACHEPROG GOVCS CGO_* RUSTC* RUSTFLAGS CARGO
      CARGO_HOME CARGO_BUILD_* CARGO_TARGET_* CARGO_ENCODED_RUSTFLAGS CARGO_ALIAS_* CARGO_REGISTRY_CREDENTIAL_PROVIDER RUSTUP_* RUSTDOC* MAKEFLAGS GNUMAKEFLAGS MAKEFILES CC CXX CFLAGS
      CXXFLAGS CPPFLAGS LDFLAGS CMAKE_* GCC_EXEC_PREFIX COMPILER_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
    `),
  },
  {
    readBy:
      'libraries with plug-ins (OpenSSL, GnuTLS, PKCS #11, SASL, ODBC, MySQL, Kerberos, ImageMagick, GTK, Qt, graphics, CUDA)',
    gives: 'shared objects or configuration that names them',
    names: words(`
      OPENSSL_* SASL_* ODBC* LIBMYSQL_* MYSQL_HOME KRB5* LDAPCONF LDAPRC GTK_* GIO_* GST_*
      QT_* CUDA_INJECTION* ORACLE_HOME TNS_ADMIN PGSYSCONFDIR PGSERVICEFILE PSQLRC PSQL_* GNUTLS_*
      PKCS11_MODULE_PATH SOFTHSM2_CONF FREETDSCONF MAGICK_* GS_LIB GS_OPTIONS FONTCONFIG_* GDK_* LIBVA_* LIBGL_* VK_*
      OCL_ICD_* ALSA_CONFIG_* HDF5_PLUGIN_* GDAL_DRIVER_PATH OGR_DRIVER_PATH OMPI_MCA_*
    `),
  },
  {
    readBy: 'TLS clients',
    gives: 'other CAs to trust; a log of session keys',
    names: words(`
      SSL_CERT_* SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE AWS_CA_BUNDLE GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
      NIX_SSL_CERT_FILE HTTPLIB2_CA_CERTS HTTPS_CA_FILE HTTPS_CA_DIR
    `),
  },
  {
    readBy: 'HTTP clients',
    gives: 'all requests, through a host of the writer’s choice',
    names: words(`
      http_proxy https_proxy ftp_proxy all_proxy no_proxy grpc_proxy no_grpc_proxy socks_proxy socks_server ws_proxy
      wss_proxy
    `),
    anyCase: true,
  },
  {
    readBy: 'clients of clouds, clusters and containers',
    gives: 'commands that get credentials; credentials and plaintext sent elsewhere',
    names: words(`
      AWS_ENDPOINT_URL* AWS_IGNORE_CONFIGURED_ENDPOINT_URLS AWS_CONFIG_FILE
      AWS_SHARED_CREDENTIALS_FILE AWS_CONTAINER_* AWS_WEB_IDENTITY_* KUBECONFIG
      KUBERNETES_SERVICE_* KUBERNETES_PORT* DOCKER_HOST DOCKER_CONFIG DOCKER_CERT_PATH
      DOCKER_TLS* CLOUDSDK_* GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES AWS_PAGER AWS_DATA_PATH
      AWS_EC2_METADATA_SERVICE_* AZURE_CONFIG_DIR AZURE_EXTENSION_* AZURE_AUTHORITY_HOST IDENTITY_ENDPOINT MSI_ENDPOINT
      GCE_METADATA_* STORAGE_EMULATOR_HOST PUBSUB_EMULATOR_HOST DATASTORE_EMULATOR_HOST FIRESTORE_EMULATOR_HOST
      BIGTABLE_EMULATOR_HOST SPANNER_EMULATOR_HOST BOTO_* KUBE_EDITOR KUBECTL_* HELM_* TF_CLI_* TF_PLUGIN_* TF_DATA_DIR
      DOCKER_CONTEXT BUILDKIT_HOST CONTAINER_HOST CONTAINERS_* REGISTRY_AUTH_FILE
    `),
  },
  {
    readBy: 'svc, Vault and OpenBao',
    gives: 'other secrets, another secrets server, weaker protection in programs started below',
    names: words('SVC_* VAULT_* BAO_*'),
  },
];

/** Harmless names that share a listed prefix. */
const exceptions: ReadonlySet<string> = new Set(['NODE_ENV']);

/** The family that a variable belongs to; undefined if a secret may use the name. */
export function steeringFamilyOf(name: string): SteeringFamily | undefined {
  if (exceptions.has(name)) return undefined;
  return steeringFamilies.find(({ names, anyCase = false }) =>
    names.some((pattern) => matches(name, pattern, anyCase)),
  );
}

function matches(name: string, pattern: string, anyCase: boolean): boolean {
  const [given, wanted] = anyCase ? [name.toLowerCase(), pattern.toLowerCase()] : [name, pattern];
  return wanted.endsWith('*') ? given.startsWith(wanted.slice(0, -1)) : given === wanted;
}
