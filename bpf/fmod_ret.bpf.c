/* Tier 2: the same hooks, reached by changing what the kernel's security_* functions return; needs no LSM. */
#include "program.h"

#define HOOK(name) "fmod_ret/security_" name

#include "hooks.h"

char LICENSE[] SEC("license") = "GPL";
