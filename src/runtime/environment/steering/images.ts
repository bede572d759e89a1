import { type SteeringFamily, words } from './patterns.ts';

/** Start scripts of images, and applications that are known by their images. */
export const images: readonly SteeringFamily[] = [
  {
    readBy: 'images that write variables into their configuration (GitLab, Kong, pgAdmin)',
    names: words('GITLAB_OMNIBUS_CONFIG KONG_NGINX_* PGADMIN_CONFIG_*'),
    evenCredentials: true,
  },
  {
    readBy: 'start scripts of images (PostgreSQL, Airflow, nginx, uvicorn, Jupyter, S2I, buildpacks, s6)',
    names: words(`
      POSTGRES_HOST_AUTH_METHOD POSTGRESQL_SHARED_PRELOAD_LIBRARIES _PIP_ADDITIONAL_REQUIREMENTS NGINX_ENVSUBST_*
      APP_FILE APP_MODULE GUNICORN_CONF PRE_START_PATH WORKER_CLASS NPM_RUN CNB_* BPL_* SERVICE_BINDING_ROOT
      DOCKER_MODS S6_*
    `),
  },
  {
    readBy:
      'applications with plug-ins (Grafana, n8n, Traefik, Telegraf, Fluentd, Vector, runners of builds)',
    names: words(`
      GF_INSTALL_PLUGINS GF_PATHS_* GF_PLUGINS_* EXTERNAL_HOOK_FILES N8N_CONFIG_FILES N8N_CUSTOM_EXTENSIONS
      TRAEFIK_EXPERIMENTAL_* TRAEFIK_PROVIDERS_* TELEGRAF_CONFIG_PATH FLUENTD_CONF FLUENTD_OPT FLUENT_CONF
      FLUENT_PLUGIN VECTOR_CONFIG* ACTIONS_RUNNER_* BUILDKITE_*_PATH
    `),
  },
];
