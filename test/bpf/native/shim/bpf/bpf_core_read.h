/* libbpf's own macros over members as the host's compiler lays them out, and over enum values that differ from those
 * in bpf/kernel.h, as a running kernel's may. */
#ifndef SHIM_BPF_CORE_READ_H
#define SHIM_BPF_CORE_READ_H

#include <stddef.h>

#include_next <bpf/bpf_core_read.h>

#define __builtin_preserve_access_index(access) (access)

#define ENUM_SHIFT 20

#undef bpf_core_field_offset
#define bpf_core_field_offset(type, field) offsetof(type, field)
#undef bpf_core_field_exists
#define bpf_core_field_exists(field) true
#undef bpf_core_type_size
#define bpf_core_type_size(type) sizeof(type)
#undef bpf_core_enum_value
#define bpf_core_enum_value(type, value) ((type)((value) + ENUM_SHIFT))
#undef bpf_core_enum_value_exists
#define bpf_core_enum_value_exists(type, value) host.knows_registers

#endif
