/** Variables that tell a program what to run, what to trust or where to send: a field of a secret must not become one unasked. */
export interface SteeringFamily {
  /** Who reads them. */
  readonly readBy: string;
  /** What somebody who sets one of them gains. */
  readonly gives: string;
  /** Names of variables; one that ends with `*` stands for all that begin so. */
  readonly names: readonly string[];
  /** Read in any case, as proxies are. */
  readonly anyCase?: boolean;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Whole prefixes where a runtime reserves one: its next version may add a name. */
export const steeringFamilies: readonly SteeringFamily[] = [
  {
    readBy: 'the loader and the C library',
    gives: 'code in every program; answers of the resolver',
    names: words(`
      LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH LANGUAGE MALLOC_* HOSTALIASES
      LOCALDOMAIN RES_OPTIONS GETCONF_DIR RESOLV_*
    `),
  },
  {
    readBy: 'shells (bash, sh, ksh, zsh, fish)',
    gives: 'commands, functions in the place of commands, other programs under the same names',
    names: words(`
      PATH IFS ENV SHELL SHELLOPTS CDPATH GLOBIGNORE PROMPT_COMMAND INPUTRC BASH* PS0 PS1
      PS2 PS3 PS4 POSIXLY_CORRECT ZDOTDIR FPATH fpath NULLCMD READNULLCMD MODULE_PATH
      fish_* HISTFILE
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
      GREP_OPTIONS WGETRC SYSTEM_WGETRC CURL_HOME VIMINIT EXINIT
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
    names: words('NODE_* BUN_* DENO_* ELECTRON_* TS_NODE_* COREPACK_* YARN_*'),
  },
  {
    readBy: 'npm',
    gives: 'options of Node, the shell of scripts',
    names: words('npm_config_* npm_package_*'),
    anyCase: true,
  },
  {
    readBy: 'Python, pip',
    gives: 'modules loaded before or in the place of others, commands',
    names: words('PYTHON* PIP_* UV_* VIRTUAL_ENV PYENV_* CONDA_*'),
  },
  { readBy: 'Perl', gives: 'modules and debugger commands before the program', names: words('PERL*') },
  {
    readBy: 'Ruby, Bundler',
    gives: 'files loaded before the program',
    names: words('RUBY* GEM_HOME GEM_PATH BUNDLE_* BUNDLER_* IRBRC'),
  },
  {
    readBy: 'the Java virtual machine and scripts that start it',
    gives: 'agents and options, hence code; other classes',
    names: words(`
      JAVA_* JDK_* JRE_* _JAVA_* IBM_JAVA_OPTIONS OPENJ9_JAVA_OPTIONS CLASSPATH JVM_OPTS
      CATALINA_* MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS GRADLE_USER_HOME SBT_OPTS ANT_OPTS
      KAFKA_OPTS ES_JAVA_OPTS
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
  { readBy: 'PHP', gives: 'another php.ini, which prepends files', names: words('PHPRC PHP_INI_SCAN_DIR') },
  { readBy: 'Lua', gives: 'code before the program, other modules', names: words('LUA_*') },
  {
    readBy: 'Tcl, R, Julia, Erlang, Elixir, OCaml, Haskell',
    gives: 'start-up files, options and code',
    names: words(`
      TCLLIBPATH TCL_LIBRARY TK_LIBRARY R_ENVIRON* R_PROFILE* R_LIBS* R_HOME JULIA_* ERL_*
      ELIXIR_ERL_OPTIONS CAML_LD_LIBRARY_PATH OCAMLRUNPARAM GHCRTS
    `),
  },
  {
    readBy: 'compilers and build tools',
    gives: 'commands in the place of the compiler',
    names: words(`
      GOFLAGS GODEBUG GOENV GOPATH GOROOT GOPROXY GOTOOLCHAIN RUSTC* RUSTFLAGS CARGO
      CARGO_HOME CARGO_BUILD_* CARGO_TARGET_* MAKEFLAGS GNUMAKEFLAGS MAKEFILES CC CXX
      CMAKE_*
    `),
  },
  {
    readBy: 'libraries with plug-ins (OpenSSL, SASL, ODBC, MySQL, Kerberos, GTK, Qt, CUDA)',
    gives: 'shared objects or configuration that names them',
    names: words(`
      OPENSSL_* SASL_* ODBC* LIBMYSQL_* MYSQL_HOME KRB5* LDAPCONF LDAPRC GTK_* GIO_* GST_*
      QT_* CUDA_INJECTION* ORACLE_HOME TNS_ADMIN PGSYSCONFDIR PGSERVICEFILE PSQLRC PSQL_*
    `),
  },
  {
    readBy: 'TLS clients',
    gives: 'other authorities to trust; a log of session keys',
    names: words('SSL_CERT_* SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE AWS_CA_BUNDLE'),
  },
  {
    readBy: 'HTTP clients',
    gives: 'all requests by way of a host of the writer’s choice',
    names: words('http_proxy https_proxy ftp_proxy all_proxy no_proxy'),
    anyCase: true,
  },
  {
    readBy: 'clients of clouds, clusters and containers',
    gives: 'commands that get credentials; credentials and plaintext sent elsewhere',
    names: words(`
      AWS_ENDPOINT_URL* AWS_IGNORE_CONFIGURED_ENDPOINT_URLS AWS_CONFIG_FILE
      AWS_SHARED_CREDENTIALS_FILE AWS_CONTAINER_* AWS_WEB_IDENTITY_* KUBECONFIG
      KUBERNETES_SERVICE_* KUBERNETES_PORT* DOCKER_HOST DOCKER_CONFIG DOCKER_CERT_PATH
      DOCKER_TLS* CLOUDSDK_* GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES
    `),
  },
  {
    readBy: 'svc, Vault and OpenBao',
    gives: 'other secrets, another key server, weaker protection in programs started below',
    names: words('SVC_* VAULT_* BAO_*'),
  },
];

/** Below a prefix of the list, but only named so. */
const exceptions: ReadonlySet<string> = new Set(['NODE_ENV']);

/** The family to which a variable of this name belongs, or undefined where a secret may have it. */
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
