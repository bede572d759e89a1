/** What somebody gains who sets a variable of a family, by the programs that read it: for the page, so not in the wrapper. */
export const gains: Readonly<Record<string, string>> = {
  'the loader, the C library, allocators and sanitizers':
    'code in every program; DNS answers; files written elsewhere',
  'shells (bash, sh, ksh, zsh, fish, PowerShell)':
    'commands, functions that replace commands, other programs of the same name',
  'programs that look for their files':
    'profiles, plug-ins and configuration from a folder of the writer’s choice',
  'programs that start a helper': 'a command of the writer’s choice',
  'editors (vim, Neovim, Emacs)': 'commands and code at the start',
  git: 'commands (ssh, editor, pager, hooks, any key of its configuration), other repositories',
  'compilers and build tools': 'commands that replace the compiler; packages from elsewhere',
  'TeX, Graphviz, gnuplot, PlantUML': 'commands from documents, plug-ins, input files',
  'managers of versions (asdf, mise, nvm and others)': 'other programs of the same name',
  'Node, npm, Bun, Deno, Electron, and tools for them':
    'modules loaded before the program; TLS without verification',
  npm: 'options of Node, the shell of scripts',
  'programs that drive a browser':
    'a command in place of the browser; the session, through a host of the writer’s choice',
  'Python, pip, servers and tools in Python': 'modules loaded before or instead of others, commands',
  'Perl, and frameworks in Perl': 'modules and debugger commands run before the program',
  'Ruby, Bundler, and tools in Ruby': 'files loaded before the program',
  'the Java virtual machine and scripts that start it': 'agents and options, hence code; other classes',
  'frameworks in Java (Spring Boot, Micronaut, Quarkus)':
    'configuration that names classes, beans, scripts and SQL; code that is replaced while it runs',
  '.NET, Mono': 'start-up hooks, profilers and other assemblies',
  'PHP, Composer, Laravel, WP-CLI':
    'another php.ini, which prepends files; files that are included; a debugger elsewhere',
  'Lua, LuaRocks, Kong': 'code before the program, other modules',
  'Tcl, R, Julia, Erlang, Elixir, RabbitMQ, OCaml, Haskell, Lisps, COBOL, Octave':
    'start-up files, options and code',
  'images that write variables into their configuration (GitLab, Kong, pgAdmin)':
    'code in Ruby, nginx or Python, from the value itself',
  'start scripts of images (PostgreSQL, Airflow, nginx, uvicorn, Jupyter, S2I, buildpacks, s6)':
    'commands, packages and options of the writer’s choice; a server without a password',
  'applications with plug-ins (Grafana, n8n, Traefik, Telegraf, Fluentd, Vector, runners of builds)':
    'plug-ins, hooks and configuration that runs commands',
  'libraries for keys and logins (OpenSSL, GnuTLS, PKCS #11, TPM, SASL, Kerberos, LDAP)':
    'shared objects, or configuration that names them; weaker verification',
  'clients of databases (ODBC, MySQL, PostgreSQL, Oracle, SQL Server)':
    'plug-ins, start-up files and commands; configuration that names other servers',
  'libraries for media, images, maps and documents (GStreamer, FFmpeg, ImageMagick, GDAL, HDF5, libxslt, LibreOffice, Blender)':
    'shared objects, commands and Python code; files written elsewhere',
  'desktops (GTK, Qt, X, Wayland) and graphics (Mesa, Vulkan, VA-API)':
    'shared objects, or configuration that names them',
  'libraries for parallel computing (OpenMP, CUDA, OpenCL, ROCm, oneAPI, MPI, NCCL)':
    'shared objects in every program that computes with them',
  'machines and networks (QEMU, libvirt, libguestfs, iproute2, iptables)': 'shared objects and commands',
  'TLS clients': 'other CAs to trust; a log of session keys',
  'HTTP clients': 'all requests, through a host of the writer’s choice',
  'clients of clouds, clusters and containers':
    'commands that get credentials; credentials and plaintext sent elsewhere',
  'svc, Vault and OpenBao':
    'other secrets, another secrets server, weaker protection in programs started below',
  'many start scripts and launchers, each under a name of its own':
    'options of a virtual machine or interpreter, hence code',
  'many programs that start another one': 'a command of the writer’s choice',
  'many programs that load plug-ins or look for their files':
    'code from a folder or file of the writer’s choice',
};
