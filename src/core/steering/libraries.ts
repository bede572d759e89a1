import { type SteeringFamily, words } from './family.ts';

/** Libraries of programs in any language. */
export const libraries: readonly SteeringFamily[] = [
  {
    readBy: 'libraries for keys and logins (OpenSSL, GnuTLS, PKCS #11, TPM, SASL, Kerberos, LDAP)',
    gives: 'shared objects, or configuration that names them; weaker verification',
    names: words(`
      OPENSSL_* SASL_* KRB5* GSS_MECH_CONFIG GSSPROXY_* LDAPCONF LDAPRC LDAPTLS_* GNUTLS_* P11_KIT_*
      PKCS11_MODULE_PATH NSS_DEBUG_PKCS11_MODULE NSS_DEFAULT_DB_TYPE OPENSC_* SOFTHSM2_CONF YUBIHSM_PKCS11_CONF
      TPM2TOOLS_* TPM2_PKCS11_* TSS2_*
    `),
  },
  {
    readBy: 'clients of databases (ODBC, MySQL, PostgreSQL, Oracle, SQL Server)',
    gives: 'plug-ins, start-up files and commands; configuration that names other servers',
    names: words(`
      ODBC* LIBMYSQL_* MARIADB_PLUGIN_DIR MYSQL_HOME MYSQL_TEST_LOGIN_FILE MYSQL_GROUP_SUFFIX ORACLE_HOME TNS_ADMIN
      ORA_* PGSYSCONFDIR PGSERVICEFILE PGPASSFILE PGSSLROOTCERT PGOPTIONS PSQLRC PSQL_* FREETDS FREETDSCONF TDSDUMP*
      INFORMIXDIR REDISCLI_RCFILE
    `),
  },
  {
    readBy:
      'libraries for media, images, maps and documents (GStreamer, FFmpeg, ImageMagick, GDAL, HDF5, libxslt)',
    gives: 'shared objects, commands and Python code; files written elsewhere',
    names: words(`
      GST_* FFMPEG_PATH FFPROBE_PATH FFPLAY_PATH FFMPEG_BIN FFPROBE_BIN FFMPEG_BINARY FFPROBE_BINARY FFPLAY_BINARY
      FFMPEG_DATADIR FFREPORT FLVMETA_PATH FLVTOOL2_PATH IMAGEIO_* IMAGEMAGICK_BINARY MAGICK_* VIPSHOME OPENCV_*
      LIBHEIF_* LIBXSLT_PLUGINS_PATH XML_CATALOG_FILES SGML_CATALOG_FILES GS_LIB GS_OPTIONS HDF5_PLUGIN_*
      GDAL_DRIVER_PATH GDAL_VRT_* OGR_DRIVER_PATH PROJ_LIB PROJ_DATA FREI0R_PATH LADSPA_PATH DSSI_PATH LV2_PATH GEGL_*
      BABL_PATH OCIO ALSA_* ALSOFT_* PULSE_SERVER PULSE_BINARY PULSE_CLIENTCONFIG PULSE_CONFIG* PULSE_DLPATH
      PULSE_SCRIPT PIPEWIRE_* SPA_PLUGIN_DIR SPA_DATA_DIR SDL_*
    `),
  },
  {
    readBy: 'desktops (GTK, Qt, X, Wayland) and graphics (Mesa, Vulkan, VA-API)',
    gives: 'shared objects, or configuration that names them',
    names: words(`
      GTK* GIO_* GI_TYPELIB_PATH GDK_* GSETTINGS_* DCONF_* QT_* QML* KDEHOME KDEDIRS FONTCONFIG_* PANGO_*
      XAUTHORITY WAYLAND_* XKB_* XCURSOR_PATH XLOCALEDIR XMODIFIERS XENVIRONMENT XAPPLRESDIR XFILESEARCHPATH LIBVA_*
      VDPAU_* LIBGL_* GBM_* EGL_* __EGL_* __GLX_* __GL_* MESA_* GALLIUM_* DRI_* VK_* XR_RUNTIME_JSON XR_API_LAYER_PATH
      XR_ENABLE_API_LAYERS
    `),
  },
  {
    readBy: 'libraries for parallel computing (OpenMP, CUDA, OpenCL, ROCm, oneAPI, MPI, NCCL)',
    gives: 'shared objects in every program that computes with them',
    names: words(`
      OMP_TOOL* LIBOMP* KMP_* CUDA_INJECTION* CUDA_PATH CUDA_CACHE_PATH NVTX_* NCCL_* HSA_* HIP_* ROCR_* ROCM_* ROCP_*
      ROCPROFILER_* ZE_ENABLE_* SYCL_* ONEAPI_* UR_ADAPTERS_* OCL_* POCL_* INTEL_LIBITTNOTIFY* INTEL_JIT_PROFILER*
      OMPI_* OPAL_PREFIX OPAL_LIBDIR PMIX_* PRTE_* MPICH_* I_MPI_* HYDRA_LAUNCHER* UCX_* FI_PROVIDER* RDMAV_DRIVERS
      IBV_DRIVERS SLURM_CONF
    `),
  },
  {
    readBy: 'machines and networks (QEMU, libvirt, libguestfs, iproute2, iptables)',
    gives: 'shared objects and commands',
    names: words(
      'QEMU_* LIBVIRT_* VIRSH_* LIBGUESTFS_* VBOX_* IP_LIB_DIR TC_LIB_DIR IPTABLES_LIB_DIR CNI_PATH',
    ),
  },
];
