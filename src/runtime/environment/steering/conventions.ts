import { type SteeringFamily, words } from './patterns.ts';

/**
 * Endings by which programs name such variables, most of them unknown here: each start script that Gradle writes reads
 * `<NAME>_OPTS`, for example. Credentials and addresses of services do not end so.
 */
export const conventions: readonly SteeringFamily[] = [
  {
    readBy: 'many start scripts and launchers, each under a name of its own',
    names: words(`
      *OPTS *_ARGS *_JAVA_OPTIONS *_JVM_OPTIONS *_JVM_FLAGS *_JVMFLAGS *_NODE_OPTIONS *_VM_OPTIONS *_EXTRA_FLAGS
      *_CLASSPATH *_CONF_DIR *_CONFIG_DIR
    `),
  },
  {
    readBy: 'many programs that start another one',
    names: words(`
      *_COMMAND *CMD *_SCRIPT *_EDITOR *_PAGER *_BROWSER *_ASKPASS *_SHELL *_RSH *_BINARY_PATH *_EXECUTABLE_PATH
      *_EXECUTABLE *_INTERPRETER *_PYTHON *_CHROMIUM_PATH *_EXEC_PATH *_WRAPPER *_SYMBOLIZER_PATH *_FFMPEG_EXE
    `),
  },
  {
    readBy: 'many programs that load plug-ins or look for their files',
    names: words(`
      *_HOME *_PRELOAD *_LIBRARY_PATH *_LIB_PATH *_DYLIB_PATH *_SO_PATH *_MODULE_PATH *_MODULES_PATH *_PLUGIN_PATH
      *_PLUGINS_PATH *_PLUGIN_DIR *_PLUGINS_DIR *_DRIVER_PATH *_DRIVERS_PATH *_HANDLER_PATH *_PACKAGE_PATH
      *_SETTINGS_MODULE *_INJECTION32_PATH *_INJECTION64_PATH
    `),
  },
];
